"""Whatever a turn file holds, its lines become steps, and reading it in pieces gives the same ones."""

import tracemalloc

import pytest
from transcript_files import read

from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.transcript.index.block_table import KEPT_BYTES, BlockCache, Placed
from agentdash.sessions.transcript.index.turn_index import TurnIndex
from hostile import big, make, streams
from hostile.checks import AGENT_NAMES, check_blocks, check_lines, lines_of
from hostile.matrix import BIG, EVERY

pytestmark = pytest.mark.usefixtures("scripted_agent")


def test_the_files_are_those_that_make_writes():
    assert {path.name: path.read_bytes() for path in make.files()} == dict(make.contents())


def test_every_line_of_a_hostile_file_is_accounted_for():
    for path, agent in EVERY:
        assert check_lines(lines_of(path), agent_named(agent)), (path.name, agent)


def test_a_hostile_file_reads_the_same_in_blocks(tmp_path):
    for path, agent in EVERY:
        copy = tmp_path / "turn_1.jsonl"
        copy.write_bytes(path.read_bytes())
        assert check_blocks(copy, agent_named(agent)), (path.name, agent)


@pytest.mark.parametrize("agent", streams.EVENTS)
def test_values_of_every_type_in_every_field_are_accounted_for(agent, tmp_path):
    path = tmp_path / "turn_1.jsonl"
    path.write_bytes(streams.misshapen(agent))
    check_lines(lines_of(path), agent_named(agent))
    check_blocks(path, agent_named(agent), block_bytes=20_000)


@pytest.mark.parametrize("agent", streams.EVENTS)
def test_a_line_that_is_torn_at_any_byte_is_one_step_more(agent, tmp_path):
    path = tmp_path / "turn_1.jsonl"
    *torn, whole = streams.torn(agent)
    for data in torn:
        path.write_bytes(data)
        steps = check_blocks(path, agent_named(agent))
        assert [step.kind for step in steps[1:]] in ([], [StepKind.UNKNOWN])
    path.write_bytes(whole)
    assert StepKind.UNKNOWN not in {step.kind for step in check_blocks(path, agent_named(agent))}


@pytest.mark.torture
@pytest.mark.parametrize(("big_file", "agent"), BIG)
def test_a_big_file_is_accounted_for_and_reads_the_same_in_blocks(big_file, agent, tmp_path):
    path = big.write(tmp_path / "turn_1.jsonl", big.FILES[big_file]())
    steps = check_lines(lines_of(path), agent_named(agent))
    assert len(check_blocks(path, agent_named(agent), block_bytes=100_000)) == len(steps)


@pytest.mark.parametrize("agent", AGENT_NAMES)
def test_a_hundred_megabytes_without_a_line_end_are_one_step(agent, tmp_path):
    path = big.sparse(tmp_path / "turn_1.jsonl")
    index = TurnIndex(path, path.with_suffix(".times"), agent_named(agent), 1, BlockCache())
    index.read_on(float("inf"))
    index.finish(None)
    assert len(index) == 1
    assert index.step(0).event.startswith("a line of 104,857,")
    assert len(index.whole(0).text) < 10_000


def test_steps_are_read_whole_in_about_one_more_pass_however_many_are_open(tmp_path, monkeypatch):
    long = [big.item("command_execution", id=f"o{n}", aggregated_output="y" * 100_000) for n in range(200)]
    open_ones = [big.item("command_execution", "started", id=f"i{n}", command="run " * 50) for n in range(2_000)]
    path = big.write(tmp_path / "turn_1.jsonl", iter([*open_ones, *long]))
    index = TurnIndex(path, path.with_suffix(".times"), agent_named("codex"), 1, BlockCache())
    index.read_on(float("inf"))
    index.finish(None)
    fed = []
    monkeypatch.setattr(TurnParser, "feed", lambda self, line, at=None: fed.append(line) or self.parse(line, at))
    assert [len(step.output) for step in list(index.every())[2_000:]] == [100_000] * 200
    assert len(fed) <= 2 * 2_200
    fed.clear()
    assert sum(len(index.block(number)) for number in range(index.block_count)) == 2_200
    assert len(fed) <= 2 * 2_200


def test_few_blocks_are_kept_where_each_is_a_huge_line():
    cache, step = BlockCache(), Step(kind=StepKind.PLAN)
    for number in range(5):
        cache.keep("turn", number, {0: Placed(step, 0, KEPT_BYTES // 2)})
    assert [number for number in range(5) if cache.get("turn", number)] == [3, 4]
    cache.keep("turn", 5, {0: Placed(step, 0, 3 * KEPT_BYTES)})
    assert [number for number in range(6) if cache.get("turn", number)] == [5]


def test_speakers_with_long_names_are_not_all_remembered():
    parser = agent_named("claude").parser()
    tracemalloc.start()
    try:
        for n in range(12_000):
            message = {"id": f"{n}" + "m" * 1_000, "usage": {"input_tokens": 1}, "content": "hi"}
            parser.feed(big.line({"type": "assistant", "parent_tool_use_id": f"{n}" + "p" * 1_000, "message": message}))
        assert tracemalloc.get_traced_memory()[1] < 10 * big.MB
    finally:
        tracemalloc.stop()
    assert parser.facts.usage.input_tokens == 12_000


@pytest.mark.slow
def test_a_hundred_megabytes_without_a_line_end_are_never_in_memory_at_once(tmp_path):
    path = big.sparse(tmp_path / "turn_1.jsonl")
    tracemalloc.start()
    try:
        (step,) = read(path, "command")
        assert tracemalloc.get_traced_memory()[1] < 80 * big.MB
    finally:
        tracemalloc.stop()
    assert step.kind is StepKind.UNKNOWN
