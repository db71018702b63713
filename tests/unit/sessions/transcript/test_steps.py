"""The bounded reader: whatever the size, what it shows is what reading from the beginning gives."""

import contextlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from places import CAPTURES
from transcript_files import merged

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Prompt, Status, Step, StepKind, StepStatus, Turn, Usage
from agentdash.sessions.storage.files.line_reader import stamp
from agentdash.sessions.storage.paths import SessionFolder
from agentdash.sessions.transcript import session_steps
from agentdash.sessions.transcript.blocks import describe
from agentdash.sessions.transcript.index import block_table, index_file, turn_index
from agentdash.sessions.transcript.index.block_table import BlockCache
from agentdash.sessions.transcript.index.turn_index import TurnIndex
from agentdash.sessions.transcript.mark_steps import Gap
from agentdash.sessions.transcript.search import Search
from agentdash.sessions.transcript.session_steps import SessionSteps
from agentdash.sessions.transcript.snapshot import View
from agentdash.widgets.steps.filtered_steps import FAILURES, PROMPTS, FilteredSteps, union

CODEX = agent_named("codex")


def started(n):
    return {"type": "item.started", "item": {"id": f"i{n}", "type": "command_execution", "command": f"run {n}"}}


def completed(n, output="", exit_code=0):
    item = {"id": f"i{n}", "type": "command_execution", "command": f"run {n}", "aggregated_output": output}
    status = "failed" if exit_code else "completed"
    return {"type": "item.completed", "item": {**item, "exit_code": exit_code, "status": status}}


def message(n, text):
    return {"type": "item.completed", "item": {"id": f"m{n}", "type": "agent_message", "text": text}}


def written(path, events, tail=b""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(event).encode() + b"\n" for event in events) + tail)
    return path


def read_whole(path, agent=CODEX, at=None):
    """The steps as one pass over all lines gives them."""
    parser = agent.parser(1)
    data = path.read_bytes()
    steps = [step for line in data.split(b"\n") if line for step in parser.feed(line)]
    return [structs.replace(step, index=step.index + 1) for step in merged(steps + parser.close(at))]


def index_of(path, agent=CODEX, *, finish=True, **options):
    index = TurnIndex(path, path.with_suffix(".times"), agent, 1, BlockCache(), **options)
    while index.ahead:
        index.read_on(0.0)
    if finish:
        index.finish(None)
    return index


def steps_of(index):
    return [index.step(place) for place in range(len(index))]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few lines, so that short files have many of them."""
    monkeypatch.setattr(turn_index, "BLOCK_BYTES", 300)
    monkeypatch.setattr(turn_index, "STATE_SHARE", 0)


EVENTS = st.lists(
    st.one_of(
        st.builds(started, st.integers(0, 5)),
        st.builds(completed, st.integers(0, 5), st.text(max_size=80), st.integers(0, 1)),
        st.builds(message, st.integers(0, 5), st.text(max_size=80)),
        st.just({"type": "error", "message": "boom"}),
        st.just({"type": "turn.failed", "error": {"message": "boom"}}),
        st.just({"type": "what.is.this"}),
    ),
    max_size=60,
)


@given(EVENTS, st.binary(max_size=30).filter(lambda data: b"\n" not in data))
def test_a_step_parsed_again_is_the_same_as_in_one_pass(tmp_path_factory, events, tail):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turn_index, "BLOCK_BYTES", 300)
        patch.setattr(turn_index, "STATE_SHARE", 0)
        path = written(tmp_path_factory.mktemp("turn") / "turn_1.jsonl", events, tail)
        index = index_of(path)
        assert steps_of(index) == read_whole(path)
        assert [index.whole(place) for place in range(len(index))] == read_whole(path)


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_every_capture_reads_the_same_in_blocks(agent, small_blocks, tmp_path):
    files = sorted(CAPTURES.glob(f"{agent}-*.jsonl"))
    assert files
    for path in files:
        copy = tmp_path / "turn_1.jsonl"
        copy.write_bytes(path.read_bytes())
        index = index_of(copy, agent_named(agent))
        assert steps_of(index) == read_whole(copy, agent_named(agent)), path


def test_an_end_far_from_its_beginning_is_one_step(small_blocks, tmp_path):
    events = [started(1), *(message(n, "x" * 200) for n in range(50)), completed(1, "late", 1)]
    index = index_of(written(tmp_path / "turn_1.jsonl", events))
    assert index.block_count > 10
    first = index.step(0)
    assert (first.command, first.output, first.exit_code) == ("run 1", "late", 1)
    assert len(index) == 51


def test_what_grows_is_read_on_and_an_open_step_replaced(tmp_path):
    path = written(tmp_path / "turn_1.jsonl", [started(1)])
    index = index_of(path, finish=False)
    assert index.step(0).status is StepStatus.RUNNING
    with path.open("ab") as file:
        file.write(json.dumps(completed(1, "out")).encode())
    assert index.read_on(1.0) == set()  # its newline is missing
    with path.open("ab") as file:
        file.write(b"\n")
    assert index.read_on(1.0) == {0}
    assert index.step(0).output == "out"


def test_open_steps_of_a_turn_that_ended_were_interrupted(small_blocks, tmp_path):
    events = [started(1), *(message(n, "x" * 200) for n in range(9))]
    index = index_of(written(tmp_path / "turn_1.jsonl", events), finish=False)
    assert index.finish(5_000) == {0}
    assert (index.step(0).status, index.step(0).ended_at) == (StepStatus.INTERRUPTED, 5_000)
    assert index.whole(0).status is StepStatus.INTERRUPTED


def test_times_are_those_of_the_lines(small_blocks, tmp_path):
    path = written(tmp_path / "turn_1.jsonl", [message(n, "x" * 100) for n in range(20)])
    offsets = [i + 1 for i, byte in enumerate(path.read_bytes()) if byte == 10]
    stamps = b"".join(stamp(end, 1_000 + n) for n, end in enumerate(offsets))
    path.with_suffix(".times").write_bytes(stamps)
    index = index_of(path)
    assert index.block_count > 3
    assert [index.step(place).at for place in (19, 0, 10)] == [1_019, 1_000, 1_010]


def test_a_line_that_is_too_long_shows_its_beginning_and_hides_nothing_else(monkeypatch, tmp_path):
    monkeypatch.setattr(turn_index, "LINE_CAP", 10_000)
    long = message(1, "y" * 50_000)
    path = written(tmp_path / "turn_1.jsonl", [started(1), long, completed(1, "fine")])
    index = index_of(path)
    run, giant = steps_of(index)
    assert (run.output, run.status) == ("fine", StepStatus.OK)
    assert giant.kind is StepKind.UNKNOWN
    assert giant.event == f"a line of {len(json.dumps(long)):,} bytes"
    assert 0 < len(giant.text) <= block_table.BEGINNING


def test_a_long_text_is_cut_in_the_list_and_whole_when_it_is_asked_for(tmp_path):
    text = "".join(f"line {n}\n" for n in range(100_000))
    index = index_of(written(tmp_path / "turn_1.jsonl", [completed(1, text)]))
    assert len(index.step(0).output) < 70_000
    assert index.step(0).cut == len(text) - 64_000
    assert index.whole(0).output == text


def test_the_index_is_small_beside_the_file(tmp_path):
    path = written(tmp_path / "turn_1.jsonl", [message(n, "words " * 150) for n in range(5_000)])
    saved = index_of(path).saved()
    kept = len(saved.starts) + len(saved.kinds) + len(saved.blocks) + sum(map(len, saved.states))
    assert kept < path.stat().st_size / 100


def test_a_saved_index_is_taken_up_and_read_on(small_blocks, monkeypatch, tmp_path):
    monkeypatch.setattr(index_file, "WORTH_KEEPING", 1_000)
    path = written(tmp_path / "turn_1.jsonl", [started(1), *(message(n, "x" * 100) for n in range(30))])
    kept = tmp_path / "cache" / "index"
    first = index_of(path, finish=False)
    index_file.save(kept, path, "codex", first.saved())
    with path.open("ab") as file:
        file.write(json.dumps(completed(1, "late")).encode() + b"\n")
    again = TurnIndex(path, path.with_suffix(".times"), CODEX, 1, BlockCache())
    again.take_up(index_file.load(kept, path, "codex"))
    assert again.ahead < 200
    again.read_on(1.0)
    again.finish(None)
    assert steps_of(again) == read_whole(path)


@pytest.mark.parametrize("damage", ["other file", "shorter", "garbage", "other agent", "nothing"])
def test_an_index_that_does_not_fit_is_not_used(damage, tmp_path):
    path = written(tmp_path / "turn_1.jsonl", [message(n, "x" * 100) for n in range(30)])
    kept = tmp_path / "index"
    index_file.save(kept, path, "codex", index_of(path).saved())
    assert (index_file.load(kept, path, "codex") is None) is False
    match damage:
        case "other file":
            path.write_bytes(path.read_bytes().replace(b"xxx", b"yyy"))
        case "shorter":
            os.truncate(path, path.stat().st_size - 10)
        case "garbage":
            kept.write_bytes(b"\x93\x01")
        case "nothing":
            kept.unlink()
    agent = "claude" if damage == "other agent" else "codex"
    assert index_file.load(kept, path, agent) is None


class Session:
    """A session on disk and what the store would say of it."""

    def __init__(self, path):
        self.folder = SessionFolder(path / "sessions" / "session1")
        self.turns, self.prompts = [], []
        self.cache = path / "cache"

    def turn(self, events, status=Status.DONE, **own):
        n = len(self.turns) + 1
        written(self.folder.output(n), events)
        facts = {"session": "session1", "n": n, "status": status, "run_id": "r", "created_at": 0, "steps": 1}
        self.turns.append(Turn(**(facts | own)))
        prompt = Prompt(id=n, session="session1", turn=n, text=f"task {n}", state="sent", created_at=0)
        self.prompts.append(prompt)
        return self

    def open(self, agent=CODEX):
        return SessionSteps(self.folder, agent, lambda: (self.turns, self.prompts), self.cache)


def words(view):
    return [view.step(item).text for item in range(len(view))]


def read_all(steps):
    while (growth := steps.refresh(0.0)).ahead:
        pass
    return steps.refresh().view if growth.view.complete is False else growth.view


@pytest.fixture
def session(tmp_path):
    return Session(tmp_path)


@pytest.fixture
def tail_first(monkeypatch, small_blocks):
    """Even a short session counts as a long one."""
    monkeypatch.setattr(session_steps, "AT_ONCE", 2_000)
    monkeypatch.setattr(session_steps, "TAIL_BYTES", 1_000)


def test_turns_are_one_sequence_with_their_prompts(session):
    session.turn([message(1, "one")]).turn([message(1, "two"), message(2, "three")])
    view = read_all(session.open())
    assert words(view) == ["task 1", "one", "task 2", "two", "three"]
    assert view.turn_starts() == [0, 2]
    assert [view.turn(item) for item in range(5)] == [1, 1, 2, 2, 2]


def test_the_end_of_a_long_session_comes_first_and_the_rest_takes_its_place(session, tail_first):
    for turn in range(1, 4):
        session.turn([message(n, f"{turn}.{n} " + "x" * 100) for n in range(40)])
    steps = session.open()
    first = steps.refresh(0.0).view
    assert words(first)[-1].startswith("3.39 ")
    assert not first.complete
    assert len(first) < 40
    assert any(isinstance(section, Gap) for section in first.sections)
    whole = read_all(steps)
    assert whole.complete
    assert len(whole) == 3 * 41
    for item in range(len(first) - 5, len(first)):
        assert whole.step(whole.moved(first, item)).text == first.step(item).text


def test_an_end_that_last_turns_fill_to_the_byte_is_shown_first_and_has_nothing_of_the_turn_before(session, tail_first):
    session.turn([message(n, f"1.{n} " + "x" * 100) for n in range(40)])
    envelope = len(json.dumps(message(1, "")) + "\n")
    session.turn([message(1, "y" * (1_000 - envelope))])
    assert session.folder.output(2).stat().st_size == 1_000
    steps = session.open()
    first = steps.refresh(0.0).view
    assert [word[:6] for word in words(first)[-2:]] == ["task 2", "yyyyyy"]
    assert not first.complete
    whole = read_all(steps)
    assert whole.complete
    assert len(whole) == 41 + 2


def test_the_place_of_a_step_survives_while_the_rest_is_read(session, tail_first):
    session.turn([event for n in range(200) for event in (started(n), completed(n, "y" * 90))])
    steps = session.open()
    view = steps.refresh(0.0).view
    item = len(view) - 2
    command = view.step(item).command
    while (growth := steps.refresh(0.0)).ahead or not growth.view.complete:
        item, view = growth.view.moved(view, item), growth.view
        assert view.step(item).command == command
    assert growth.view.step(growth.view.moved(view, item)).command == command


def test_a_failure_that_the_agent_did_not_tell_is_the_last_step(session):
    session.turn([], Status.FAILED, reason="exit 127", argv=("codex", "exec"), steps=0, exit_code=127)
    session.folder.errors(1).write_text("codex: not found\n")
    failure = read_all(session.open()).step(1)
    assert (failure.kind, failure.fatal, failure.text) == (StepKind.ERROR, True, "exit 127")
    assert (failure.command, failure.exit_code, failure.output) == ("codex exec", 127, "codex: not found")


def test_a_failure_that_the_agent_told_is_not_told_twice(session):
    failed = {"type": "turn.failed", "error": {"message": "no more tokens"}}
    session.turn([message(1, "hm"), failed], Status.FAILED, reason="no more tokens")
    assert words(read_all(session.open())) == ["task 1", "hm", "no more tokens"]


@pytest.mark.parametrize(
    ("line", "reason", "expected"),
    [
        ("Not logged in.", "exit 1: Not logged in.", "exit 1"),
        ("\x1b[31mNot logged in.\x1b[0m\r", "exit 1: Not logged in.", "exit 1"),
        ("x" * 500, f"exit 1: {'x' * 400}", "exit 1"),
        ("Not logged in.", "exit 1: Not logged in. (no stop)", "exit 1 (no stop)"),
        ("Not", "exit 1: Not logged in.", "exit 1: Not logged in."),
        ('{"error":"Not logged in."}', "exit 1: Not logged in.", "exit 1: Not logged in."),
        ("Not logged in.", "Not logged in.", "Not logged in."),
    ],
)
@pytest.mark.parametrize("end", ["\n", ""])
def test_a_line_on_stdout_that_is_the_reason_is_not_told_twice(session, line, reason, expected, end):
    session.turn([], Status.FAILED, reason=reason, argv=("codex", "exec"), steps=1, unknown=1, exit_code=1)
    session.folder.output(1).write_text(f"starting\n{line}{end}")
    view = read_all(session.open())
    starting, shown, failure = map(view.step, range(1, 4))
    assert [starting.text, shown.text] == ["starting", line]
    assert (failure.text, failure.command, failure.output) == (expected, "codex exec", None)


def test_a_reason_from_stderr_is_told_with_what_stands_there(session):
    session.turn([], Status.FAILED, reason="exit 1: no key", argv=("codex",), steps=1, unknown=1, exit_code=1)
    session.folder.output(1).write_text("starting\n")
    session.folder.errors(1).write_text("no key\n")
    failure = read_all(session.open()).step(2)
    assert (failure.text, failure.output) == ("exit 1: no key", "no key")


def test_jumps_and_filters_by_kind(session):
    session.turn([message(1, "a"), completed(1, "", 1), completed(2)]).turn([completed(1, "", 1), message(1, "b")])
    view = read_all(session.open())
    assert list(view.matching(PROMPTS)) == [0, 4]
    assert list(view.matching(FAILURES)) == [2, 5]
    assert list(view.matching(union({"2"}))) == [1, 6]
    assert view.count(FAILURES) == 2
    assert [view.next_marked(FAILURES, item, 1) for item in (0, 2, 5)] == [2, 5, None]
    assert [view.next_marked(FAILURES, item, -1) for item in (6, 5, 2)] == [5, 2, None]


def test_a_view_counts_what_it_shows_and_not_what_came_since(session):
    session.turn([message(1, "a"), completed(1, "", 1)], Status.RUNNING)
    steps = session.open()
    before = read_all(steps)
    written(session.folder.output(1), [message(1, "a"), completed(1, "", 1), completed(2, "", 1)])
    after = steps.refresh().view
    assert [before.count(FAILURES), after.count(FAILURES)] == [1, 2]
    assert [before.count(union({"2"})), after.count(union({"2"}))] == [1, 1]


def test_the_reason_of_a_failure_is_nobodys_step(session):
    session.turn([message(1, "a")], Status.FAILED, reason="killed", steps=1).turn([message(1, "b")])
    view = read_all(session.open())
    assert words(view) == ["task 1", "a", "killed", "task 2", "b"]
    assert words(view)[view.after_steps(1)] == "b"


def test_the_reason_of_a_failure_is_there_at_the_second_opening_too(session, monkeypatch):
    monkeypatch.setattr(index_file, "WORTH_KEEPING", 1_000)
    session.turn([message(n, "x" * 100) for n in range(30)], Status.FAILED, reason="killed by signal 9", steps=30)
    first = session.open()
    before = words(read_all(first))
    first.close()
    assert before[-1] == "killed by signal 9"
    assert words(read_all(session.open())) == before


def open_files(folder):
    """The files below a folder that this process holds open."""
    found = []
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the one that lists the others
            found.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
    return [path for path in found if path.startswith(f"{folder}/")]


def test_files_are_not_held_open(session, tail_first):
    session.turn([message(n, "x" * 100) for n in range(100)], Status.RUNNING)
    for _ in range(5):
        steps = session.open()
        steps.refresh(0.0)
        read_all(steps)
        steps.close()
    with session.folder.output(1).open() as file:
        assert open_files(session.folder.path.parent) == [file.name]
    assert open_files(session.folder.path.parent) == []


def test_steps_keep_their_numbers_without_a_prompt(session):
    session.turn([message(1, "a"), message(2, "b"), message(3, "c")])
    session.prompts.clear()
    view = read_all(session.open())
    assert view.step(view.number(1, 2)).index == 2


def test_while_a_turn_is_read_its_middle_has_no_numbers_and_it_begins_once(session, tail_first):
    session.turn([message(n, f"{n} " + "x" * 100) for n in range(100)])
    view = session.open().refresh(0.0).view
    assert not view.complete
    assert view.number(1, 80) is None
    assert view.turn_starts() == [0]


def test_steps_that_a_runner_of_another_version_counted_are_those_of_their_turn(session):
    session.turn([message(1, "a"), message(2, "b")]).turn([message(1, "c"), message(2, "d")])
    view = read_all(session.open())
    assert [words(view)[view.after_steps(count, {1: 5})] for count in (1, 4, 5, 6)] == ["b", "task 2", "c", "d"]


def test_a_list_leaves_out_the_start_of_a_turn_that_repeats_the_one_before(session, monkeypatch):
    monkeypatch.setattr(index_file, "WORTH_KEEPING", 1)
    for conversation in (T1, T1, T2, T2):
        session.turn([begun(conversation), message(1, conversation * 9)])
    steps = session.open()
    view = read_all(steps)
    assert list(view.repeats) == [4, 10]
    shown = FilteredSteps(view)
    assert [shown.item(position) for position in range(len(shown))] == [0, 1, 2, 3, 5, 6, 7, 8, 9, 11]
    assert [shown.position(item) for item in (3, 4, 5, 9, 10, 11)] == [3, 4, 4, 8, 9, 9]
    assert not shown.shows(4)
    assert 4 in view.matching(union({"8"}))
    assert shown.continues(FilteredSteps(View(view.sections[:2])))
    steps.close()
    assert list(read_all(session.open()).repeats) == [4, 10]


def test_steps_have_numbers(session):
    session.turn([message(1, "a"), message(2, "b")]).turn([message(1, "c")])
    view = read_all(session.open())
    assert [view.number(1, 2), view.number(2, 1), view.number(2, 99), view.number(3, 1)] == [2, 4, 4, None]
    assert [view.after_steps(count) for count in range(5)] == [1, 2, 4, 5, 5]


def test_the_second_opening_of_a_long_file_reads_next_to_nothing(session, tail_first, monkeypatch):
    monkeypatch.setattr(index_file, "WORTH_KEEPING", 1_000)
    session.turn([message(n, f"{n} " + "x" * 100) for n in range(300)])
    steps = session.open()
    before = words(read_all(steps))
    steps.close()
    again = session.open()
    growth = again.refresh(0.0)
    assert growth.view.complete
    assert growth.ahead == 0
    assert words(growth.view) == before
    assert [path.stat().st_mode & 0o777 for path in session.cache.iterdir()] == [0o600]


def test_every_step_in_order_with_all_its_words(session, small_blocks):
    long = "z" * 200_000
    session.turn([started(1), message(1, "a" * 300), completed(1, long)]).turn([message(1, "b")])
    steps = list(session.open().every_step())
    assert [step.kind for step in steps] == [
        StepKind.PROMPT, StepKind.COMMAND, StepKind.MESSAGE, StepKind.PROMPT, StepKind.MESSAGE,
    ]  # fmt: skip
    assert steps[1].output == long
    assert [step.text for step in session.open().every_step((2,))] == ["task 2", "b"]


def test_a_folder_that_goes_away_is_told_and_not_a_crash(session):
    session.turn([message(n, "x" * 100_000) for n in range(60)])
    steps = session.open()
    view = read_all(steps)
    for path in session.folder.turns.iterdir():
        path.unlink()
    kinds = {view.step(item).kind for item in range(len(view))}
    assert StepKind.UNKNOWN in kinds
    assert "is no longer readable" in view.step(1).text
    assert steps.refresh().view.count(union({"1"})) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told(session):
    session.turn([message(1, "a")])
    session.folder.output(1).chmod(0)
    assert "Permission denied" in session.open().refresh().trouble


def found(view, needle, item=0):
    search = Search(view, needle, item)
    while not search.finished:
        search.advance(1.0)
    return list(search.hits)


def test_search_finds_what_is_in_any_step(session, small_blocks):
    session.turn([message(n, f"number {n} " + "x" * 100) for n in range(50)])
    session.turn([completed(1, "a Needle\nin hay"), message(1, 'say "needle" é\\n'), started(2)])
    view = read_all(session.open())
    assert found(view, "needle") == [52, 53]
    assert found(view, "Needle") == [52]
    assert found(view, "number 7 ") == [8]
    assert found(view, 'say "needle"') == [53]
    assert found(view, "é") == [53]
    assert found(view, "task 2") == [51]
    assert found(view, "nowhere") == []


def claude_call(n, command):
    block = {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": command}}
    return {"type": "assistant", "message": {"id": f"m{n}", "role": "assistant", "model": "x", "content": [block]}}


def claude_answer(n, output):
    block = {"type": "tool_result", "tool_use_id": f"t{n}", "content": output}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def test_search_finds_a_command_whose_end_is_far_away(session, small_blocks):
    session.turn(
        [claude_call(1, "pytest needle"), *(claude_call(n, "x" * 200) for n in range(2, 9)), claude_answer(1, "")]
    )
    claude = SessionSteps(
        session.folder, agent_named("claude"), lambda: (session.turns, session.prompts), session.cache
    )
    assert found(read_all(claude), "needle") == [1]


def test_search_goes_to_no_hit_before_the_cursor_while_one_may_lie_behind(session, small_blocks):
    session.turn([message(n, ("hit " if n in (1, 30) else "") + "x" * 200) for n in range(40)])
    search = Search(read_all(session.open()), "hit", 5)
    firsts = set()
    while not search.finished:
        search.advance(0.0)
        firsts.add(search.first())
    assert firsts <= {None, 31}
    assert search.first() == 31


def test_search_begins_at_the_cursor_and_goes_round(session, small_blocks):
    session.turn([message(n, f"hit {n} " + "x" * 200) for n in range(40)])
    view = read_all(session.open())
    search = Search(view, "hit", 30)
    while not search.hits:
        search.advance(0.0)
    assert search.hits[0] >= 28
    assert not search.finished
    while not search.finished:
        search.advance(1.0)
    assert len(search.hits) == 40
    assert [search.next(40, 1), search.next(1, -1), search.next(5, 1)] == [1, 40, 6]


def test_what_comes_after_a_search_is_found_too(session):
    session.turn([message(1, "a hit")], Status.RUNNING)
    steps = session.open()
    view = read_all(steps)
    search = Search(view, "hit")
    search.advance(1.0)
    with session.folder.output(1).open("ab") as file:
        file.write(json.dumps(message(2, "another hit")).encode() + b"\n")
    grown = steps.refresh().view
    search.extend(grown, range(len(view), len(grown)))
    assert list(search.hits) == [1, 2]


def test_unencodable_arguments_do_not_stop_the_reading(tmp_path):
    class Odd(type(CODEX)):
        def parser(self, turn=1):
            parser = super().parser(turn)
            parser.checkpoint = lambda: None
            return parser

    path = written(tmp_path / "turn_1.jsonl", [message(n, "x" * 1_000) for n in range(400)])
    index = TurnIndex(path, path.with_suffix(".times"), Odd(), 1, BlockCache())
    while index.ahead:
        index.read_on(0.0)
    assert index.block_count == 1
    assert [step.kind for step in steps_of(index)] == [Step(kind=StepKind.MESSAGE).kind] * 400


T1, T2 = (f"0190f7a2-0000-7000-8000-{number:012d}" for number in (1, 2))
HUNK = "@@ -1 +1 @@\n-old\n+new"


def file_change(n, *paths, end="completed"):
    changes = [{"path": path, "kind": "update"} for path in paths]
    item = {"id": f"item_{n}", "type": "file_change", "changes": changes, "status": end}
    return {"type": "item.completed", "item": item}


class FakeDiffs:
    """Finds the diffs of some edits, by conversation and number, and remembers what it was asked."""

    def __init__(self, *found):
        self.found, self.asked, self.turns = set(found), [], ()

    def know(self, turns):
        self.turns = tuple(turns)

    def fill(self, step, conversation, key, number):
        self.asked.append((step.turn, step.changes[0].path, conversation, number))
        lacking = (conversation, number) not in self.found
        own = {"no_diff": "gone"} if lacking else {"diff": f"{HUNK} {number}"}
        return structs.replace(step, changes=tuple(structs.replace(change, **own) for change in step.changes))


def opened(session, diffs):
    return SessionSteps(session.folder, CODEX, lambda: (session.turns, session.prompts), session.cache, diffs)


def begun(thread):
    return {"type": "thread.started", "thread_id": thread}


def test_the_diffs_of_steps_are_found_by_turn_and_order_when_they_are_asked_for(session, small_blocks):
    session.turn([begun(T1), *(file_change(n, f"/{n % 2}") for n in range(60))])
    session.turn([begun(T2), file_change(0, "/0"), message(1, "x"), file_change(2, "/0")])
    diffs = FakeDiffs((T1, 29), (T2, 1))
    view = read_all(opened(session, diffs))
    assert diffs.asked == []
    assert [turn.n for turn in diffs.turns] == [1, 2]
    first, last = 2 + 58, len(view) - 1  # behind prompt and start: the 30th edit of /0
    assert view.step(first).lacks_diffs
    assert view.fill([first, first + 1, last - 2, last]) == [first, first + 1, last]
    assert diffs.asked == [(1, "/0", T1, 29), (1, "/1", T1, 29), (2, "/0", T2, 0), (2, "/0", T2, 1)]
    assert view.step(last).changes[0].diff == view.whole(last).changes[0].diff == f"{HUNK} 1"
    assert view.step(last - 2).changes[0].no_diff is None
    assert view.whole(last - 2).changes[0].no_diff == "gone"
    assert view.fill([last]) == []


def test_a_step_that_runs_or_has_a_diff_is_never_sought(session):
    running = {"type": "item.started", "item": file_change(0, "/x", end="in_progress")["item"]}
    session.turn([running, message(1, "x")], Status.RUNNING)
    diffs = FakeDiffs((None, 0))
    view = read_all(opened(session, diffs))
    assert view.fill(range(len(view))) == []
    assert diffs.asked == []


def test_which_edit_a_step_was_is_kept_with_the_index_of_a_long_file(session, small_blocks, monkeypatch):
    monkeypatch.setattr(index_file, "WORTH_KEEPING", 1)
    session.turn([begun(T1), *(file_change(n, "/x") for n in range(50))])
    steps = opened(session, FakeDiffs())
    read_all(steps)
    steps.close()
    monkeypatch.setattr(turn_index.TurnIndex, "_line", lambda *_: pytest.fail("it was read again"))
    diffs = FakeDiffs((T1, 49))
    view = read_all(opened(session, diffs))
    assert view.fill([len(view) - 1]) == [len(view) - 1]
    assert diffs.asked == [(1, "/x", T1, 49)]


def test_an_end_whose_beginning_is_not_read_seeks_no_diffs(session, tail_first):
    session.turn([begun(T1), *(file_change(n, "/x") for n in range(200))])
    diffs = FakeDiffs((T1, 199))
    steps = opened(session, diffs)
    view = steps.refresh(0.0).view
    assert not view.complete
    assert view.fill([len(view) - 1]) == []
    assert diffs.asked == []
    whole = read_all(steps)
    assert whole.fill([len(whole) - 1]) == [len(whole) - 1]


def test_a_search_finds_what_stands_only_in_a_diff_that_was_not_shown_yet(session):
    session.turn([begun(T1), file_change(0, "/x"), file_change(1, "/x")])
    view = read_all(opened(session, FakeDiffs((T1, 1))))
    search = Search(view, "+new")
    search.advance(10)
    assert list(search.hits) == [len(view) - 1]


def result(tokens):
    return {
        "type": "result",
        "subtype": "error_during_execution",
        "usage": {"input_tokens": tokens, "output_tokens": 0},
    }


@pytest.mark.parametrize("reported", [0, 900])
def test_the_only_report_of_a_turn_shows_what_its_record_has_and_several_stay_as_they_are(session, reported):
    session.turn([result(reported)], Status.STOPPED, usage=Usage.of(1_200, 0, 76), cost_usd=0.3)
    session.turn([result(0), result(5)], usage=Usage.of(1_200, 0, 76))
    session.turn([result(5)], Status.RUNNING, usage=Usage.of(1_200, 0, 76))
    found = [step for step in session.open(agent_named("claude")).every_step() if step.kind is StepKind.USAGE]
    assert [step.turn_usage for step in found] == [Usage.of(1_200, 0, 76), None, None, None]
    assert found[0].cost_usd == 0.3
    (shown,) = describe(found[0]).body
    assert (shown.own, shown.thread) == (Usage.of(1_200, 0, 76), None)


def usage(tokens):
    return {"type": "turn.completed", "usage": {"input_tokens": tokens, "cached_input_tokens": 0, "output_tokens": 0}}


def test_the_tokens_of_a_thread_stand_beside_those_of_the_turn_once_they_are_known(session):
    session.turn([usage(700)], usage=Usage.of(700, 0, 0), thread_usage=Usage.of(700, 0, 0))
    session.turn([usage(1_000)], Status.RUNNING)
    steps = session.open()
    view = read_all(steps)
    last = len(view) - 1
    assert (view.step(last).whole_thread, view.step(last).turn_usage) == (True, None)
    known = {"usage": Usage.of(300, 0, 0), "thread_usage": Usage.of(1_000, 0, 0, None), "status": Status.DONE}
    session.turns[1] = structs.replace(session.turns[1], **known)
    growth = steps.refresh()
    assert growth.changed == {last}
    assert growth.view.step(last).turn_usage == Usage.of(300, 0, 0)
    assert [step.turn_usage.input_tokens for step in session.open().every_step() if step.whole_thread] == [700, 300]
