"""A record made again from turn files: which files are turns, whatever else lies beside them."""

import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import CAPTURES
from unit.sessions.agents.codex.test_codex_usage import THREAD, Transcript

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Status
from agentdash.sessions.service.lifecycle.recovery.salvage import salvaged, turns_in
from agentdash.sessions.storage.paths import SessionFolder

MORE_THAN_A_RANGE_HOLDS = "9" * 240


@pytest.fixture
def folder(tmp_path):
    found = SessionFolder(tmp_path / "11111111-1111-4111-8111-111111111111")
    found.create()
    return found


def put(folder, *numbers):
    """Turn files with these numbers, as their names have them."""
    for number in numbers:
        shutil.copyfile(CAPTURES / "codex-files.jsonl", folder.turns / f"turn_{number}.jsonl")


def turns(folder):
    found = salvaged(folder, "here")
    return [(turn.n, turn.status) for turn in found.turns] if found else None


@pytest.mark.parametrize("stray", [
    MORE_THAN_A_RANGE_HOLDS, "1000000", "12345678901", "0", "007", "\N{ARABIC-INDIC DIGIT THREE}",
    "\N{SUPERSCRIPT TWO}", "-2", "1.5", "x", "",
])  # fmt: skip
def test_a_file_whose_number_is_no_turns_makes_no_turns(folder, stray):
    put(folder, stray)
    assert turns(folder) is None
    put(folder, 1, 2)
    assert turns(folder) == [(1, Status.DONE), (2, Status.DONE)]


def test_turns_are_put_in_the_order_of_their_numbers_and_not_of_their_names(folder):
    put(folder, *range(1, 12))
    assert turns(folder) == [(n, Status.DONE) for n in range(1, 12)]


def test_of_a_turn_whose_file_is_gone_the_agent_is_known_from_the_next(folder):
    put(folder, 2)
    folder.prompt(2).write_text("what was asked")
    found = salvaged(folder, "here")
    assert found.session.agent == "codex"
    assert [(turn.n, turn.status) for turn in found.turns] == [(1, Status.LOST), (2, Status.DONE)]
    assert [prompt.text for prompt in found.prompts] == ["(prompt unknown)", "what was asked"]


BACKGROUND = "live/claude-330-background-wakes.jsonl"
"""Two turns, of which claude began the second by itself."""
LIVE = [
    (BACKGROUND, "claude", [False, True]),
    ("live/claude-197-background-wakes.jsonl", "claude", [False, True]),
    ("live/claude-197-live-inject.jsonl", "claude", [False, False]),
    ("app-server/codex-asks.jsonl", "codex", [False] * 6),
    ("app-server/codex-resume.jsonl", "codex", [False]),
]


def put_stream(folder, name, number=1):
    shutil.copyfile(CAPTURES / name, folder.output(number))


@pytest.mark.parametrize(("name", "agent", "own"), LIVE)
def test_a_stream_of_a_live_agent_is_the_turns_that_it_served(folder, name, agent, own):
    put_stream(folder, name)
    found = salvaged(folder, "here")
    assert found.session.agent == agent
    assert [turn.asked_by == "agent" for turn in found.turns] == own
    assert [prompt.turn for prompt in found.prompts] == [n for n, by_itself in enumerate(own, 1) if not by_itself]
    assert {turn.status for turn in found.turns} == {Status.DONE}
    assert {turn.unknown for turn in found.turns} == {0}
    assert all(turn.steps and turn.usage.known for turn in found.turns)
    assert {turn.stream_number for turn in found.turns} == {1}
    assert [turn.begin_byte for turn in found.turns] == [0, *(turn.end_byte for turn in found.turns[:-1])]
    assert all(launch.transport for launch in found.launches)
    assert found.session.agent_session


def test_the_files_of_a_live_agent_and_of_a_process_of_one_turn_are_turns_in_order(folder):
    put_stream(folder, BACKGROUND)
    shutil.copyfile(CAPTURES / "claude-330-plain.jsonl", folder.output(4))
    folder.prompt(4).write_text("the fourth")
    found = salvaged(folder, "here")
    assert [(turn.n, turn.stream_number, turn.status) for turn in found.turns] == [
        (1, 1, Status.DONE), (2, 1, Status.DONE), (3, 3, Status.LOST), (4, 4, Status.DONE),
    ]  # fmt: skip
    assert [bool(launch.transport) for launch in found.launches] == [True, True, False, False]
    assert found.prompts[-1].text == "the fourth"


def test_a_stream_has_no_more_turns_than_there_are_numbers_for(folder):
    put_stream(folder, BACKGROUND)
    shutil.copyfile(CAPTURES / "claude-330-plain.jsonl", folder.output(2))
    assert [(turn.n, turn.begin_byte, turn.end_byte) for turn in salvaged(folder, "here").turns] == [
        (1, 0, None), (2, 0, None),
    ]  # fmt: skip


def test_a_live_turn_that_broke_off_is_lost(folder):
    whole = (CAPTURES / BACKGROUND).read_bytes()
    folder.output(1).write_bytes(whole[: whole.rindex(b'"type":"result"') - 100])
    assert [turn.status for turn in salvaged(folder, "here").turns] == [Status.DONE, Status.LOST]


@given(st.data())
def test_the_turns_of_a_stream_follow_each_other_without_a_gap(tmp_path_factory, data):
    name, agent, _ = data.draw(st.sampled_from(LIVE))
    transport = {"claude": "stream-json", "codex": "app-server"}[agent]
    whole = (CAPTURES / name).read_bytes()
    output = tmp_path_factory.mktemp("stream") / "output"
    lines = whole.splitlines(keepends=True)
    kept = data.draw(st.lists(st.sampled_from([*lines, b"{}\n", b"\xff\n", b"[1]\n"]), max_size=40))
    output.write_bytes(b"".join(kept) + data.draw(st.sampled_from([b"", lines[0][:20]])))
    most = data.draw(st.sampled_from([None, 1, 2]))
    found = turns_in(output, agent_named(agent).dialogue(transport), most)
    assert 1 <= len(found) <= (most or len(found))
    assert [one.begin for one in found] == [0, *(one.end for one in found[:-1])]
    assert all(one.begin < one.end for one in found if one.end is not None)


@pytest.mark.parametrize(("capture", "prompt"), [
    ("claude-330-live-inject.jsonl", "[[fake:s6_long]] go"),
    ("app-server/codex-answer-twice.jsonl", "[[fake:s6_shell]] a"),
])  # fmt: skip
def test_folder_and_prompt_of_a_live_agent_are_those_that_its_stream_names(folder, capture, prompt):
    ours = (CAPTURES / capture).read_text().replace('"clientId":null', '"clientId":"key"')
    folder.output(1).write_text(ours)
    found = salvaged(folder, "here")
    assert (found.session.cwd, found.prompts[0].text, found.session.task) == ("/home/dev/project", prompt, prompt)


def test_a_folder_that_is_not_a_whole_path_and_lines_of_any_shape_name_nothing(folder):
    lines = (b'{"type":"system","subtype":"init","cwd":"../x","session_id":"s"}', b'{"cwd":7}', b'{"params":[]}', b"[]")
    folder.output(1).write_bytes(b"\n".join(lines) + b"\n")
    assert salvaged(folder, "here").session.cwd == "?"


@pytest.mark.parametrize(("cwd", "shown"), [("/home/dev/own", "/home/dev/own"), ("../x", "?"), (7, "?")])
def test_the_folder_of_a_codex_of_one_turn_is_that_of_its_transcript(folder, tmp_path, monkeypatch, cwd, shown):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    transcript = Transcript(tmp_path / "codex")
    transcript.add("session_meta", {"id": THREAD, "cwd": cwd})
    transcript.add("response_item", {"type": "message", "role": "user", "cwd": "/elsewhere"})
    lines = ({"type": "thread.started", "thread_id": THREAD}, {"type": "turn.started"}, {"type": "turn.completed"})
    folder.output(1).write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert salvaged(folder, "here").session.cwd == shown


def test_without_a_transcript_the_folder_of_a_codex_of_one_turn_is_not_known(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "nothing"))
    folder.output(1).write_text(json.dumps({"type": "thread.started", "thread_id": THREAD}) + "\n")
    assert salvaged(folder, "here").session.cwd == "?"
