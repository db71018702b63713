"""Turns that are parts of one file: what is read of them is what files of their own would give."""

import json
from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from places import CAPTURES
from repetition import repeated

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Prompt, Session, Status, StepStatus, Turn
from agentdash.sessions.service.lifecycle.recovery.reconcile import parsed_facts
from agentdash.sessions.storage.files.line_reader import stamp
from agentdash.sessions.storage.paths import SessionFolder
from agentdash.sessions.storage.turns.turn_output import outputs_of
from agentdash.sessions.transcript import session_steps
from agentdash.sessions.transcript.export.formats import FORMATS
from agentdash.sessions.transcript.index import index_file, turn_index
from agentdash.sessions.transcript.search import Search
from agentdash.sessions.transcript.session_steps import SessionSteps
from agentdash.sessions.transcript.tail import StepTail

SHORT = 6_000
"""The most bytes of a capture that takes part: examples are many."""


class Laid:
    """A session whose turns have these bytes, in one file or in a file each, with the times at which they came."""

    def __init__(self, path, agent, pieces, *, shared, times=(), open_ends=False, status=Status.DONE):
        self.folder, self.cache, self.agent = SessionFolder(path / "s1"), path / "cache", agent_named(agent)
        self.folder.turns.mkdir(parents=True)
        begins = [0, *accumulate(map(len, pieces))]
        self.pieces, self.turns, self.prompts = pieces, [], []
        for n, (begin, end) in enumerate(pairwise(begins), 1):
            place = {"stream": 1 if n > 1 else None, "begin_byte": begin} if shared else {}
            if shared and not open_ends and n < len(pieces):
                place["end_byte"] = end
            facts = {"session": "s1", "n": n, "status": status, "run_id": "r", "created_at": 0, "steps": 1}
            self.turns.append(Turn(**facts, **place))
            self.prompts.append(Prompt(id=n, session="s1", turn=n, text=f"task {n}", state="sent", created_at=0))
            with self.folder.output(1 if shared else n).open("ab") as file:
                file.write(pieces[n - 1])
            if not shared:
                self.folder.times(n).write_bytes(_stamps(times, begin, end))
        if shared:
            self.folder.times(1).write_bytes(_stamps(times, 0, begins[-1]))

    def open(self):
        return SessionSteps(self.folder, self.agent, lambda: (list(self.turns), list(self.prompts)), self.cache)

    def end(self, n, **facts):
        self.turns[n - 1] = structs.replace(self.turns[n - 1], status=Status.DONE, **facts)

    def begin(self, n, begin_byte):
        place = {"stream": 1, "begin_byte": begin_byte, "end_byte": None}
        self.turns.append(structs.replace(self.turns[0], n=n, status=Status.RUNNING, **place))

    def raw(self, view, item):
        """The bytes of the line that a step comes from."""
        offset, size = view.where(item)
        path = self.folder.output(self.turns[view.turn(item) - 1].stream_number)
        return path.read_bytes()[offset : offset + size]


def _stamps(times, begin, end):
    """The records of a file that has these bytes of the stream."""
    upto = [*(offset for offset in times if offset < end), end]
    return b"".join(stamp(offset - begin, 1_000 + n) for n, offset in enumerate(upto) if offset > begin)


def read_all(steps):
    while (growth := steps.refresh()).ahead or not growth.view.complete:
        pass
    return growth.view


def shown(view):
    return [view.step(item) for item in range(len(view))]


def found(view, needle):
    search = Search(view, needle, 0)
    while not search.finished:
        search.advance(1.0)
    return list(search.hits)


def facts_of(laid):
    outputs = outputs_of(laid.folder, laid.turns)
    return [parsed_facts(output.stdout, laid.agent.parser(n)) for n, output in enumerate(outputs, 1)]


def exported(laid):
    session = Session(
        id="s1", agent=laid.agent.name, title="t", task="t", cwd="/", turn=len(laid.turns), status=Status.DONE,
        created_at=1, updated_at=1,
    )  # fmt: skip
    return ["".join(one.write(session, laid.open().every_step())) for one in FORMATS]


def same_as_own_files(tmp_path, agent, pieces, **how):
    """Lay the pieces out both ways, compare all that can be read of them, and return the slices."""
    one, own = (Laid(tmp_path / name, agent, pieces, shared=name == "one", **how) for name in ("one", "own"))
    opened, expected = read_all(one.open()), read_all(own.open())
    assert shown(opened) == shown(expected)
    assert [opened.whole(item) for item in range(len(opened))] == list(own.open().every_step())
    assert list(one.open().every_step((len(pieces),))) == list(own.open().every_step((len(pieces),)))
    assert [bytes(section.kinds) for section in opened.sections] == [bytes(s.kinds) for s in expected.sections]
    assert (opened.turn_starts(), list(opened.repeats)) == (expected.turn_starts(), list(expected.repeats))
    assert [one.raw(opened, item) for item in range(len(opened))] == [
        own.raw(expected, item) for item in range(len(expected))
    ]
    for needle in ("task 2", "the", '"', "no such text"):
        assert found(opened, needle) == found(expected, needle)
    assert StepTail(one.open()).begin(None) == StepTail(own.open()).begin(None)
    assert facts_of(one) == facts_of(own)
    assert exported(one) == exported(own)
    parts = [output.stdout for output in outputs_of(one.folder, one.turns)]
    assert [part.read() for part in parts] == pieces
    assert sum(part.size for part in parts) == one.folder.output(1).stat().st_size
    return one


def captures(agent):
    return sorted(path for path in CAPTURES.glob(f"{agent}-*.jsonl") if path.stat().st_size <= SHORT)


@st.composite
def streams(draw):
    """An agent, and the bytes of the turns of one stream; most of them end with a line."""
    agent = draw(st.sampled_from(["claude", "codex"]))
    paths = draw(st.lists(st.sampled_from(captures(agent)), min_size=1, max_size=3))
    data = b"".join(path.read_bytes() for path in paths)
    ends = [place + 1 for place, byte in enumerate(data) if byte == 10]
    line_ends = draw(st.lists(st.sampled_from(ends), max_size=5))
    torn = draw(st.lists(st.integers(0, len(data)), max_size=1))
    cuts = sorted([0, *line_ends, *torn, len(data)])
    times = draw(st.lists(st.integers(1, len(data)), max_size=8).map(sorted))
    return agent, [data[begin:end] for begin, end in pairwise(cuts)], times


@settings(max_examples=repeated(10, 100))
@given(streams(), st.booleans())
def test_slices_of_a_stream_are_read_like_files_of_their_own(tmp_path_factory, stream, open_ends):
    agent, pieces, times = stream
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turn_index, "BLOCK_BYTES", 300)
        patch.setattr(turn_index, "STATE_SHARE", 0)
        same_as_own_files(tmp_path_factory.mktemp("stream"), agent, pieces, times=times, open_ends=open_ends)


@settings(max_examples=repeated(10, 100))
@given(streams(), st.integers(200, 5_000))
def test_the_end_of_a_long_stream_comes_first_and_the_rest_takes_its_place(tmp_path_factory, stream, room):
    agent, pieces, times = stream
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turn_index, "BLOCK_BYTES", 300)
        patch.setattr(turn_index, "STATE_SHARE", 0)
        patch.setattr(session_steps, "AT_ONCE", room)
        patch.setattr(session_steps, "TAIL_BYTES", room // 2)
        same_as_own_files(tmp_path_factory.mktemp("stream"), agent, pieces, times=times)


def test_a_live_stream_of_several_turns_has_a_turn_for_each_result(tmp_path):
    lines = (CAPTURES / "claude-330-live-inject.jsonl").read_bytes().splitlines(keepends=True)
    results = [n for n, line in enumerate(lines, 1) if b'"type":"result"' in line]
    bounds = [0, *results[:-1], len(lines)]
    pieces = [b"".join(lines[begin:end]) for begin, end in pairwise(bounds)]
    assert len(pieces) == 2
    one = same_as_own_files(tmp_path, "claude", pieces)
    assert [facts.end for facts, _ in facts_of(one)] == ["completed", "completed"]


def message(text):
    item = {"id": text, "type": "agent_message", "text": text}
    return json.dumps({"type": "item.completed", "item": item}).encode() + b"\n"


def command(text):
    item = {"id": text, "type": "command_execution", "command": text, "status": "in_progress"}
    return json.dumps({"type": "item.started", "item": item}).encode() + b"\n"


def texts(view):
    return [view.step(item).text for item in range(len(view))]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(turn_index, "BLOCK_BYTES", 300)
    monkeypatch.setattr(turn_index, "STATE_SHARE", 0)


def test_a_torn_last_line_belongs_to_the_turn_before_the_boundary(tmp_path):
    one = same_as_own_files(tmp_path, "command", [b"one\ntw", b"o\nthree\n", b"four"])
    assert texts(read_all(one.open())) == ["task 1", "one", "tw", "task 2", "o", "three", "task 3", "four"]


def test_an_open_step_of_a_slice_was_interrupted_though_the_next_turn_has_its_end(tmp_path):
    ended = command("make").replace(b"started", b"completed").replace(b"in_progress", b"completed")
    one = same_as_own_files(tmp_path, "codex", [command("make"), ended + message("a")])
    statuses = [step.status for step in shown(read_all(one.open())) if step.command]
    assert statuses == [StepStatus.INTERRUPTED, StepStatus.OK]


def test_a_turn_without_a_byte_between_two_others_is_empty(tmp_path):
    one = same_as_own_files(tmp_path, "codex", [message("a"), b"", message("b")])
    assert texts(read_all(one.open())) == ["task 1", "a", "task 2", "task 3", "b"]


@pytest.fixture
def growing(tmp_path):
    """A stream with one turn that runs."""
    return Laid(tmp_path, "codex", [message("a")], shared=True, status=Status.RUNNING)


def written(laid, *lines):
    with laid.folder.output(1).open("ab") as file:
        file.writelines(lines)


def next_turn(laid):
    """End the newest turn at the end of the file and begin the next, as one commit of a runner does it."""
    end, n = laid.folder.output(1).stat().st_size, len(laid.turns) + 1
    laid.end(n - 1, end_byte=end)
    laid.begin(n, end)
    laid.prompts.append(structs.replace(laid.prompts[0], id=n, turn=n, text=f"task {n}"))


def new(tail):
    return [f"{one.step.turn}: {one.step.text or one.step.command}" for one in tail.more()]


def test_a_growing_slice_is_followed_into_the_next_turn(growing):
    tail, steps = StepTail(growing.open()), growing.open()
    assert [one.step.text for one in tail.begin(None)] == texts(steps.refresh().view) == ["task 1", "a"]
    written(growing, message("b"))
    assert new(tail) == ["1: b"]
    next_turn(growing)
    written(growing, message("c"))
    assert new(tail) == ["2: task 2", "2: c"]
    written(growing, message("d"))
    assert new(tail) == ["2: d"]
    assert texts(steps.refresh().view) == ["task 1", "a", "b", "task 2", "c", "d"]


def test_a_turn_that_was_read_while_it_waited_is_read_from_the_stream_that_then_serves_it(growing):
    """A live agent that waits answers within milliseconds, so nothing else may announce its steps."""
    steps = growing.open()
    steps.refresh()
    next_turn(growing)
    begun = growing.turns[1]
    growing.turns[1] = structs.replace(begun, status=Status.QUEUED, stream=None, begin_byte=0)
    assert texts(steps.refresh().view) == ["task 1", "a", "task 2"]
    written(growing, message("b"))
    growing.turns[1] = begun
    growing.end(2, end_byte=growing.folder.output(1).stat().st_size)
    assert texts(steps.refresh().view) == ["task 1", "a", "task 2", "b"]


def test_steps_that_came_before_the_boundary_was_recorded_go_to_the_next_turn_and_are_told_once(growing):
    """An agent begins a turn by itself; its runner records the end of the turn before a moment later."""
    tail, steps = StepTail(growing.open()), growing.open()
    assert [one.step.text for one in tail.begin(None)] == texts(steps.refresh().view) == ["task 1", "a"]
    end = growing.folder.output(1).stat().st_size
    written(growing, message("b"), command("make"))
    assert new(tail) == ["1: b", "1: make"]
    before = steps.refresh().view
    assert [before.turn(item) for item in range(len(before))] == [1, 1, 1, 1]
    growing.end(1, end_byte=end)
    growing.begin(2, end)
    written(growing, message("c"))
    assert new(tail) == ["2: c"]
    view = steps.refresh().view
    assert [(view.turn(item), step.text or step.command) for item, step in enumerate(shown(view))] == [
        (1, "task 1"), (1, "a"), (2, "b"), (2, "make"), (2, "c"),
    ]  # fmt: skip
    assert [view.moved(before, item) for item in range(4)] == [0, 1, 2, 3]


def test_a_search_finds_steps_where_they_have_moved(growing):
    steps = growing.open()
    end = growing.folder.output(1).stat().st_size
    written(growing, message("b"))
    before = steps.refresh().view
    search = Search(before, "b")
    search.advance(1.0)
    assert list(search.hits) == [2]
    growing.end(1, end_byte=end)
    growing.begin(2, end)
    growing.prompts.append(structs.replace(growing.prompts[0], id=2, turn=2, text="task 2"))
    written(growing, message("bc"))
    view = steps.refresh().view
    assert texts(view) == ["task 1", "a", "task 2", "b", "bc"]
    search.extend(view, range(view.after(before), len(view)))
    assert list(search.hits) == [3, 4]


def test_the_end_of_a_slice_that_was_read_before_its_boundary_is_shown_without_the_next_turn(
    growing, monkeypatch, small_blocks
):
    monkeypatch.setattr(session_steps, "AT_ONCE", 2_000)
    monkeypatch.setattr(session_steps, "TAIL_BYTES", 1_000)
    written(growing, *(message(f"old {n} {'x' * 50}") for n in range(100)))
    steps = growing.open()
    end = growing.folder.output(1).stat().st_size
    written(growing, message("b"))
    first = steps.refresh(0.0).view
    assert not first.complete
    assert texts(first)[-1] == "b"
    growing.end(1, end_byte=end)
    growing.begin(2, end)
    second = steps.refresh(0.0).view
    assert [item for item in range(len(second)) if second.turn(item) == 2] == [len(second) - 1]
    assert texts(second).count("b") == 1
    whole = read_all(steps)
    assert [text[:6] for text in texts(whole)[-2:]] == ["old 99", "b"]
    assert len(whole) == 1 + 1 + 100 + 1


@pytest.mark.parametrize("place", [
    {"begin_byte": -5}, {"begin_byte": 2**40}, {"end_byte": -1}, {"begin_byte": 30, "end_byte": 3}, {"stream": -2},
], ids=["negative", "behind the end", "ends before the file", "ends before it begins", "no file"])  # fmt: skip
def test_a_place_that_cannot_be_shows_what_there_is(growing, place):
    growing.end(1, **place)
    first = 1 if place == {"begin_byte": -5} else 0
    assert texts(read_all(growing.open())) == ["task 1", *["a"] * first]
    (output,) = outputs_of(growing.folder, growing.turns)
    assert output.stdout.read() == growing.pieces[0] * first


def test_children_of_an_ended_turn_that_go_on_printing_are_not_read(growing):
    growing.end(1)
    steps = growing.open()
    view = steps.refresh().view
    written(growing, message("late"))
    assert steps.refresh().view is view


@pytest.mark.parametrize("place", [
    {"begin_byte": 0, "end_byte": 5_000}, {"begin_byte": 1, "end_byte": None}, {"begin_byte": 20_000, "end_byte": None},
], ids=["ends earlier", "begins a byte later", "another part"])  # fmt: skip
def test_a_saved_index_of_one_slice_is_not_used_for_another(tmp_path, monkeypatch, small_blocks, place):
    monkeypatch.setattr(index_file, "WORTH_KEEPING", 1_000)
    lines = [message(f"{n:03} {'x' * 100}") for n in range(200)]
    one = Laid(tmp_path / "one", "codex", [b"".join(lines)], shared=True)
    steps = one.open()
    read_all(steps)
    steps.close()
    (saved,) = one.cache.iterdir()
    begin, end = place["begin_byte"], place["end_byte"]
    one.turns[0] = structs.replace(one.turns[0], **place)
    own = Laid(tmp_path / "own", "codex", [b"".join(lines)[begin:end]], shared=False)
    assert index_file.load(saved, one.folder.output(1), "codex", begin, end) is None
    assert texts(read_all(one.open())) == texts(read_all(own.open()))


def test_the_saved_index_of_a_slice_is_used_for_the_same_slice(tmp_path, monkeypatch, small_blocks):
    monkeypatch.setattr(index_file, "WORTH_KEEPING", 1_000)
    pieces = [b"".join(message(f"{turn} {n} {'x' * 100}") for n in range(50)) for turn in "abc"]
    one = Laid(tmp_path, "codex", pieces, shared=True)
    steps = one.open()
    before = shown(read_all(steps))
    steps.close()
    assert len(list(one.cache.iterdir())) == 3
    monkeypatch.setattr(turn_index.TurnIndex, "_line", lambda *_: pytest.fail("it was read again"))
    assert shown(read_all(one.open())) == before


def test_a_failed_turn_tells_its_own_stderr_alone(tmp_path):
    one = Laid(tmp_path, "codex", [message("a"), b"", b""], shared=True)
    one.folder.errors(1).write_text("of the first\nof the second\nof the third\n")
    for n, begin in ((2, 13), (3, 27)):
        one.end(n, begin_error_byte=begin, steps=0, argv=("codex",), reason="exit 1")
        one.turns[n - 1] = structs.replace(one.turns[n - 1], status=Status.FAILED)
    view = read_all(one.open())
    assert [step.output for step in shown(view) if step.fatal] == ["of the second", "of the third"]


@pytest.mark.parametrize("turns", [50, pytest.param(1_000, marks=pytest.mark.slow)])
def test_many_turns_of_one_stream(tmp_path, small_blocks, monkeypatch, turns):
    pieces = [b"".join(message(f"{turn}.{n}") for n in range(turn % 5)) for turn in range(1, turns + 1)]
    one, own = (Laid(tmp_path / name, "codex", pieces, shared=name == "one") for name in ("one", "own"))
    assert list(one.open().every_step()) == list(own.open().every_step())
    assert facts_of(one) == facts_of(own)
    monkeypatch.setattr(session_steps, "AT_ONCE", 2_000)
    monkeypatch.setattr(session_steps, "TAIL_BYTES", 1_000)
    steps = one.open()
    first = steps.refresh(0.0).view
    assert not first.complete
    last = turns - 1
    assert texts(first)[-6:] == [f"task {last}", *(f"{last}.{n}" for n in range(4)), f"task {turns}"]
    assert len(read_all(steps).turn_starts()) == turns
    steps.close()
