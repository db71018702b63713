"""The whole text of an ask: nothing is lost, nothing reaches the terminal, and a long text costs only its rows."""

import pytest
from hostile_text import REMOVED, nasty
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agentdash.sessions.rules.asks.model import Ask, AskKind
from agentdash.sessions.text.sanitize import cell_width
from agentdash.widgets.asks.ask_document import AskDocument, brief, fits


def rows(ask, width=80, **facts):
    document = AskDocument(ask, **facts)
    return ["".join(text for text, _ in row) for item in range(len(document)) for row in document.rows(item, width)]


def roles(ask):
    document = AskDocument(ask)
    return {role for item in range(len(document)) for row in document.rows(item, 80) for _, role in row}


@given(st.sampled_from(AskKind), nasty, st.integers(20, 200))
def test_no_text_of_an_agent_breaks_out_of_its_rows(kind, text, width):
    ask = Ask(key=text, kind=kind, tool=text, title=text * 9, body=text, why=text * 9, paths=(text,) * 3, always=text)
    for row in rows(ask, width):
        assert not REMOVED & set(row)
        assert "\n" not in row
        assert "\t" not in row
        assert cell_width(row) <= width


@given(st.sampled_from(AskKind), nasty, st.integers(1, 50))
def test_the_height_is_that_of_the_rows_up_to_the_most_that_is_asked_for(kind, text, most):
    ask = Ask(key="k", kind=kind, title="t", body=text, why=text)
    assert AskDocument(ask).height(80, most) == min(most, len(rows(ask)))


@pytest.mark.parametrize("kind", [AskKind.COMMAND, AskKind.EDIT, AskKind.TOOL, AskKind.PERMISSIONS, AskKind.PLAN])
def test_an_ask_without_details_says_so(kind):
    assert "The agent shows no details." in "\n".join(rows(Ask(key="k", kind=kind, title="t")))


def test_an_edit_is_coloured_as_a_diff_only_if_it_is_one():
    diff = Ask(key="k", kind=AskKind.EDIT, title="t", body="--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n", paths=("a.py",))
    text = Ask(key="k", kind=AskKind.EDIT, title="t", body="import time\n+ 1\n", paths=("a.py",))
    numberless = Ask(key="k", kind=AskKind.EDIT, title="t", body="@@\n-return 1\n+return 2", paths=("a.py",))
    for one in (diff, numberless):
        assert {"added", "removed"} <= {role.removesuffix("-word") for role in roles(one)}
    assert "added" not in roles(text)
    assert "keyword" in roles(text)


def test_facts_that_a_line_would_cut_are_shown_whole_below():
    ask = Ask(
        key="k", kind=AskKind.COMMAND, title="t", body="make", why="because " * 20, paths=("a.py", "b.py"),
        always="Bash(make:*) " * 9,
    )  # fmt: skip
    shown = "\n".join(rows(ask))
    assert shown.count("because") == 20
    assert shown.count("Bash(make:*)") == 9
    assert "a.py\nb.py" in shown


@pytest.mark.parametrize(
    ("text", "whole"), [("x" * 60, True), ("x" * 61, False), ("修" * 30, True), ("修" * 31, False), ("a\nb", False)]
)
def test_a_fact_that_its_line_shows_whole_is_not_repeated(text, whole):
    ask = Ask(key="k", kind=AskKind.COMMAND, title="t", why=text, body="make")
    assert fits(text, 60) is whole
    assert ("why" in rows(ask, room=60)) is not whole
    beside_its_place = structs.replace(ask, title=text, why="")
    assert ("asks to" in rows(beside_its_place, room=78)) is not whole
    scope = structs.replace(ask, title="t", why="", always=text)
    assert ("always covers" in rows(scope, room=64)) is not whole


def test_ten_thousand_files_are_counted():
    ask = Ask(key="k", kind=AskKind.EDIT, title="t", body="x", paths=tuple(f"{n}.py" for n in range(10_000)))
    assert "and 9,000 more" in rows(ask)[-1]


def test_a_line_of_a_million_characters_is_shown_in_pieces():
    document = AskDocument(Ask(key="k", kind=AskKind.COMMAND, title="t", body="x" * 1_000_000))
    assert len(document) == 500
    assert document.height(80, 20) == 20


def test_a_fact_is_one_clean_line():
    assert brief("a\x1b[31m\u202e\n\tb" + "x" * 9_000).startswith("a⟨ESC⟩[31m⟨U+202E⟩ bxxx")
    assert brief(" " * 100_000 + "x").endswith("…")
    assert len(brief("x" * 9_000)) == 4_000


def test_what_blanks_would_push_out_of_sight_is_beside_their_number():
    for kind in [AskKind.COMMAND, AskKind.EDIT, AskKind.TOOL, AskKind.PERMISSIONS, AskKind.PLAN]:
        for hider, sign in [(" " * 6_000, "⟨6,000 blanks⟩"), ("\n" * 900, "⟨899 empty lines⟩")]:
            shown = rows(
                Ask(key="k", kind=kind, title="run: make test", body=f"make test{hider}; touch PWN", paths=("a",))
            )
            assert len(shown) < 8, (kind, sign)
            assert sign in "\n".join(shown), (kind, sign)
            assert "; touch PWN" in "\n".join(shown), (kind, sign)


def test_a_long_command_is_shown_once_from_its_beginning_to_its_end():
    command = "echo " + " ".join(map(str, range(9_000)))
    shown = "".join(rows(Ask(key="k", kind=AskKind.COMMAND, title=f"run: {command[:3_999]}…", body=command)))
    assert shown.count("echo") == 1
    assert "8999" in shown


def test_an_ask_whose_row_lacks_a_part_says_so_at_its_end():
    ask = Ask(key="k", kind=AskKind.COMMAND, title="run: x", body="x", left_out="5 of 9 bytes of its text")
    assert rows(ask)[-1].startswith("5 of 9 bytes of its text: too long to be shown")
