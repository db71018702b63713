"""The list of all texts, which ``make texts`` prints."""

import pytest
from texts import main, texts


def test_it_has_the_texts_of_every_room(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    printed = capsys.readouterr().out
    for text in (
        "stop the session and all its processes",
        "Usage: agentdash spawn",
        "queue.max_running",
        "No matches.",
    ):
        assert text in printed
    assert "SELECT" not in printed


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('"""Not shown."""\nx = "Nothing to undo."', ["Nothing to undo."]),
        ('x = f"{n:>4} of {total} done" if n else "none yet"', ["none yet", "{…} of {…} done"]),
        ('x = ("one " "text")', ["one text"]),
        ("x = re.compile('[a b]')\ny = 'SELECT id FROM sessions'\nz = 'word'", []),
        ("x = \"state = 'due' AND session IN (SELECT id FROM sessions WHERE host = ?1)\"", []),
        ("x = 'archived_at IS NULL AND pinned_at IS NOT NULL'\ny = f'{n} ORDER BY n DESC'", []),
        ('def f(a: "list[int] | None") -> "int | None": ...', []),
        ('x: Annotated[int, Meta(description="Number of copies.")] = 1', ["Number of copies."]),
    ],
)
def test_a_text_is_a_string_with_a_blank_that_is_no_code(source: str, found: list[str]) -> None:
    assert sorted(text for _, text in texts(source)) == sorted(found)
