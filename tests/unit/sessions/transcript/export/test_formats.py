"""Which format is meant, and that each of them holds one step at a time."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from every_kind import session
from places import CAPTURES
from transcript_files import read

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.transcript.export.formats import FORMATS, Format, format_named, format_of
from agentdash.tui.cli.commands.reading import reports as export


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.md", "md"), ("a.MARKDOWN", "md"), ("x/a.b.html", "html"), ("a.htm", "html"), ("a.json", "json"), ("a", "md")],
)
def test_the_suffix_of_a_file_says_its_format(name: str, expected: str) -> None:
    assert format_of(Path(name)).name == expected


@pytest.mark.parametrize("name", ["a.pdf", "a.md.gz", "a.jsonl"])
def test_a_suffix_that_says_nothing_is_an_error_that_names_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError, match=r"Choose one of: \.md, .*\.json"):
        format_of(Path(name))


def test_a_format_is_found_by_its_name() -> None:
    assert [format_named(found.name) for found in FORMATS] == list(FORMATS)
    with pytest.raises(UsageError, match=r"Unknown format 'pdf'\. Choose one of: md, html, json"):
        format_named("pdf")


def test_the_command_offers_every_format() -> None:
    [option] = [p for p in export.export.params if p.name == "name"]
    assert isinstance(option.type, click.Choice)
    assert list(option.type.choices) == [found.name for found in FORMATS]


@pytest.mark.parametrize("found", FORMATS, ids=lambda found: found.name)
def test_what_real_agents_print_can_be_written(found: Format) -> None:
    for capture in sorted(CAPTURES.glob("*.jsonl")):
        whole = "".join(found.write(session(), read(capture)))
        assert len(whole) > len("".join(found.write(session(), []))), capture.name


@pytest.mark.parametrize("found", FORMATS, ids=lambda found: found.name)
def test_a_long_session_is_never_in_memory_as_a_whole(found: Format) -> None:
    size, count = 200_000, 200

    def steps() -> Iterator[Step]:
        for index in range(count):
            output = f"{index:09} " * (size // 10)
            yield Step(index=index, kind=StepKind.COMMAND, command="seq", status=StepStatus.OK, output=output)

    written = sum(map(len, found.write(session(), [])))
    tracemalloc.start()
    try:
        written = sum(map(len, found.write(session(), steps()))) - written
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert written > size * count
    assert most < size * count / 4
