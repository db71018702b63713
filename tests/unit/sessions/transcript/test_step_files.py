"""Files of steps from anywhere: their format is told by what is in them, and their size does not matter."""

import gzip
import io
import json
import tracemalloc

import pytest
from places import CAPTURES
from transcript_files import CHATS, FOLDER, PROJECTS, ROLLOUTS, format_of, merged, read, told

from agentdash.sessions.agents.formats import reader_named
from agentdash.sessions.model.errors import NotATranscriptError, UsageError
from agentdash.sessions.model.session import StepKind
from agentdash.sessions.transcript.index import turn_index
from agentdash.sessions.transcript.turn_file import StepFile, plain_file
from hostile import big

WORK = FOLDER / "codex-work-whole.rollout.jsonl"


def test_the_format_of_a_capture_is_told_by_its_content(tmp_path):
    for path in [*ROLLOUTS, *PROJECTS, *CHATS]:
        copy = tmp_path / "renamed"
        copy.write_bytes(path.read_bytes())
        found = StepFile(copy)
        assert found.format == format_of(path), path.name
        assert (found.lines, found.unknown) == (path.read_bytes().count(b"\n"), 0), path.name


def test_blocks_that_are_parsed_again_give_the_same_steps(monkeypatch):
    """Each line is a block of its own here: every state of the parser is written down and taken up."""
    monkeypatch.setattr(turn_index, "BLOCK_LINES", 1)
    monkeypatch.setattr(turn_index, "STATE_SHARE", 0)
    for path in [*ROLLOUTS, *PROJECTS, *CHATS]:
        parser = reader_named(format_of(path)).parser()
        steps = [step for line in path.read_bytes().split(b"\n") for step in parser.feed(line)]
        expected = [(s.turn, s.kind, s.text, s.status, s.at, s.output) for s in merged([*steps, *parser.close()])]
        assert [(s.turn, s.kind, s.text, s.status, s.at, s.output) for s in read(path)] == expected, path.name


@pytest.mark.parametrize(
    ("name", "format_name"),
    [("app-server/codex-asks.jsonl", "codex"), ("live/claude-330-background-wakes.jsonl", "claude")],
)
def test_the_stream_of_a_live_agent_is_read_by_its_own_parser(name, format_name):
    for found in (StepFile(CAPTURES / name), StepFile(CAPTURES / name, format_name)):
        assert (found.format, found.unknown) == (format_name, 0)
        assert {StepKind.MESSAGE, StepKind.COMMAND} <= {step.kind for step in found.steps()}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty file"),
        (b"\n \n", "empty file"),
        (b"hello\nworld\n", "not a known transcript"),
        (b"\x7fELF\x00\x01\n\xff", "not a known transcript"),
        (b'{"type":"thread.odd"}\n', "has no known lines"),
    ],
)
def test_what_is_no_transcript_says_what_it_is(tmp_path, content, message):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(NotATranscriptError, match=message):
        StepFile(path)


def test_a_format_that_is_not_known_names_the_known_ones(tmp_path):
    with pytest.raises(UsageError, match="codex-rollout, claude-project"):
        StepFile(WORK, "codex-rolout")


@pytest.mark.parametrize("data", [WORK.read_bytes(), gzip.compress(WORK.read_bytes())], ids=["plain", "gzip"])
def test_a_pipe_is_read_like_the_file(data):
    with plain_file(None, io.BufferedReader(io.BytesIO(data))) as path:
        assert told(read(path)) == told(read(WORK))
    assert not path.exists()


def test_a_packed_file_that_is_cut_says_so():
    packed = gzip.compress(WORK.read_bytes())
    cut = io.BufferedReader(io.BytesIO(packed[: len(packed) // 2]))
    with pytest.raises(NotATranscriptError, match="cannot be unpacked"), plain_file(None, cut):
        pass


@pytest.mark.slow
def test_a_huge_transcript_takes_little_memory(tmp_path):
    head, *body = WORK.read_bytes().splitlines(keepends=True)
    path = tmp_path / "big.jsonl"
    with path.open("wb") as file:
        file.write(head)
        for _ in range(200):
            file.writelines(body)
    assert path.stat().st_size > 5 * big.MB
    tracemalloc.start()
    try:
        count = sum(step.kind is StepKind.PROMPT for step in StepFile(path).steps())
        assert tracemalloc.get_traced_memory()[1] < 4 * big.MB
    finally:
        tracemalloc.stop()
    assert count == 200


def test_calls_that_never_end_do_not_fill_the_memory():
    parser = reader_named("codex-rollout").parser()
    for n in range(12_000):
        call = {"type": "function_call", "name": "shell", "call_id": f"c{n}", "arguments": "{}"}
        output = {"type": "function_call_output", "call_id": f"d{n}", "output": "x"}
        for payload in (call, output):
            parser.feed(json.dumps({"type": "response_item", "payload": payload}).encode())
    assert len(parser.state.open) <= 10_000
    assert len(parser.state.closed) <= 200  # type: ignore[attr-defined]


ODD = (None, 0, -1, 1e300, 10**30, "x", [], [None], {}, {"type": 1}, True)


def mutations(value, path=()):
    """Each place of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from mutations(inner, (*path, key))


def replaced(value, path, odd):
    copy = json.loads(json.dumps(value))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = odd
    return copy


@pytest.mark.parametrize("path", [WORK, FOLDER / "claude-inject.project.jsonl", *CHATS], ids=lambda path: path.name)
def test_no_odd_value_is_too_odd(path):
    """Every place of every kind of line takes every odd value: a step is shown, nothing is raised, all can go on."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    kinds = {
        (one.get("type"), str(one.get("payload", one.get("message", one.get("$set", {}))))[:40], len(one)): one
        for one in lines
    }
    for line in kinds.values():
        for place in mutations(line):
            parser = reader_named(format_of(path)).parser()
            for odd in ODD:
                parser.feed(json.dumps(replaced(line, place, odd)).encode())
            parser.close()
            assert parser.checkpoint() is not None
            assert parser.facts.lines == len(ODD)


ODD_LINES = {
    "codex-rollout": b'{"timestamp":5,"type":"response_item","payload":{"type":"message","id":["x"],"role":"assistant",'
    b'"content":[{"type":"output_text","text":"half \\ud83d of it"}]}}\n',
    "claude-project": b'{"type":"assistant","sessionId":"1","uuid":7,"gitBranch":{},"message":{"id":"m","usage":[],'
    b'"content":[{"type":"text","text":"half \\ud83d of it"}]}}\n',
    "gemini-session": b'{"id":"1","timestamp":5,"type":"gemini","content":"half \\ud83d of it","thoughts":7,'
    b'"tokens":{"input":"many"},"toolCalls":[5]}\n',
}


@pytest.mark.parametrize("name", ODD_LINES)
def test_an_odd_field_costs_that_field_alone(tmp_path, name):
    path = tmp_path / "odd.jsonl"
    path.write_bytes(ODD_LINES[name])
    found = StepFile(path)
    assert (found.format, found.unknown) == (name, 0)
    steps = list(found.steps())
    assert [step.text for step in steps if step.kind is StepKind.MESSAGE] == ["half \ufffd of it"]
    assert [step.event for step in steps][-1] == "unreadable"
