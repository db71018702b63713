"""The search for a prompt in the transcripts that the agents keep, on real transcripts and on damaged ones."""

import shutil
from pathlib import Path

import pytest
from places import CAPTURES

from agentdash.sessions.agents.parsing.sent_prompt import SentPrompt
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.rules.launch import Launch

CLAUDE = "07d3a2ff-6119-4412-acae-db94127d386a"
THREAD = "01a1fb63-d467-7731-a171-b6a1b38f8ae2"
TRANSCRIPTS = {
    "claude": ("claude-resume.project.jsonl", f"projects/-home-dev-project/{CLAUDE}.jsonl"),
    "codex": ("codex-resume.rollout.jsonl", f"sessions/2026/11/20/rollout-2026-11-20T23-56-27-{THREAD}.jsonl"),
}
HOMES = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}
CONVERSATIONS = {"claude": CLAUDE, "codex": THREAD}


def recorded(agent: str, prompt: SentPrompt) -> bool | None:
    own_files = agent_named(agent).own_files
    assert own_files is not None
    return own_files.has_prompt(prompt)


def sent(
    agent: str, home: Path, text: str, at: int = 0, *, named: bool = True, argv: tuple[str, ...] = ()
) -> bool | None:
    prompt = SentPrompt(
        launch=Launch(argv=(agent, *argv), stdin=text),
        agent_session=CONVERSATIONS[agent] if named else None,
        env={HOMES[agent]: str(home)},
        at=at,
    )
    return recorded(agent, prompt)


@pytest.fixture(params=sorted(TRANSCRIPTS))
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    name, place = TRANSCRIPTS[request.param]
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    shutil.copy(CAPTURES / "transcripts" / name, path)
    return str(request.param)


def transcript(agent: str, home: Path) -> Path:
    return home / TRANSCRIPTS[agent][1]


def test_a_prompt_of_the_conversation_is_found_and_another_is_not(agent: str, tmp_path: Path) -> None:
    assert sent(agent, tmp_path, "[[fake:shell_ok]] first turn") is True
    assert sent(agent, tmp_path, "\n[[fake:shell_ok]] first turn\n") is True
    assert sent(agent, tmp_path, "[[fake:shell_ok]] first") is False
    assert sent(agent, tmp_path, "a prompt that never arrived") is False


def test_the_same_words_of_an_earlier_turn_do_not_count(agent: str, tmp_path: Path) -> None:
    after_all_of_it = 1_900_000_000_000
    assert sent(agent, tmp_path, "[[fake:shell_ok]] first turn", after_all_of_it) is False


def test_a_line_that_is_still_being_written_is_read_and_a_damaged_one_hides_no_other(
    agent: str, tmp_path: Path
) -> None:
    path = transcript(agent, tmp_path)
    whole = path.read_bytes()
    path.write_bytes(b'{"type":"user","message"\xff\n' + whole.rstrip(b"\n"))
    assert sent(agent, tmp_path, "[[fake:shell_ok]] first turn") is True


def test_without_a_folder_of_the_agent_nothing_can_be_told(agent: str, tmp_path: Path) -> None:
    assert sent(agent, tmp_path / "nowhere", "[[fake:shell_ok]] first turn") is None


def test_a_conversation_without_a_transcript_has_no_prompt(agent: str, tmp_path: Path) -> None:
    transcript(agent, tmp_path).unlink()
    assert sent(agent, tmp_path, "[[fake:shell_ok]] first turn") is False


def test_claude_is_started_with_the_name_of_its_conversation(tmp_path: Path) -> None:
    place = tmp_path / TRANSCRIPTS["claude"][1]
    place.parent.mkdir(parents=True)
    shutil.copy(CAPTURES / "transcripts" / TRANSCRIPTS["claude"][0], place)
    for option in ("--resume", "--session-id"):
        argv = ("-p", option, CLAUDE)
        assert sent("claude", tmp_path, "[[fake:shell_ok]] first turn", named=False, argv=argv) is True
    assert sent("claude", tmp_path, "[[fake:shell_ok]] first turn", named=False) is None
    assert sent("claude", tmp_path, "x", named=False, argv=("--resume", "../../../etc/passwd")) is None


def test_a_thread_of_codex_without_a_name_or_a_transcript_cannot_be_searched(tmp_path: Path) -> None:
    assert sent("codex", tmp_path, "x", named=False) is None
    assert sent("codex", tmp_path, "x", argv=("--ephemeral",)) is None


def test_a_command_keeps_no_transcript() -> None:
    assert agent_named("command").own_files is None


LIVE_THREAD = "01a20735-fc46-7b62-ba1d-df6bf71e1faa"


def live(home: Path, key: str, text: str, at: int = 0) -> bool | None:
    prompt = SentPrompt(
        launch=Launch(argv=("codex", "app-server"), stdin="the first prompt", transport="app-server"),
        agent_session=LIVE_THREAD, env={"CODEX_HOME": str(home)}, at=at, key=key, recorded=text,
    )  # fmt: skip
    return recorded("codex", prompt)


@pytest.fixture
def live_transcript(tmp_path: Path) -> Path:
    path = tmp_path / f"sessions/2026/11/23/rollout-2026-11-23T07-01-48-{LIVE_THREAD}.jsonl"
    path.parent.mkdir(parents=True)
    shutil.copy(CAPTURES / "transcripts" / "codex-app-server.rollout.jsonl", path)
    return path


@pytest.mark.parametrize("key", ["a", "b", "c", "d"])
def test_a_prompt_of_a_live_codex_is_found_by_its_id(live_transcript: Path, tmp_path: Path, key: str) -> None:
    assert live(tmp_path, key, "whatever it said") is True


def test_the_text_of_another_prompt_does_not_count_for_a_live_codex(live_transcript: Path, tmp_path: Path) -> None:
    assert live(tmp_path, "e", "steered into failing") is False
    assert live(tmp_path, "e", "[[fake:sleep600]] go") is False


def test_a_live_codex_that_died_between_the_text_and_the_id_has_the_prompt(
    live_transcript: Path, tmp_path: Path
) -> None:
    lines = live_transcript.read_bytes().splitlines(keepends=True)
    with_id = next(n for n, line in enumerate(lines) if b'"client_id":"b"' in line)
    live_transcript.write_bytes(b"".join(lines[:with_id]))
    assert live(tmp_path, "b", "steered into failing\n") is True
    assert live(tmp_path, "b", "steered") is False
    assert live(tmp_path, "b", "[[fake:drop]] go") is False
    assert live(tmp_path, "b", "steered into failing", 1_900_000_000_000) is False


def test_a_text_of_a_turn_that_ended_does_not_count(live_transcript: Path, tmp_path: Path) -> None:
    lines = live_transcript.read_bytes().splitlines(keepends=True)
    with_id = next(n for n, line in enumerate(lines) if b'"client_id":"b"' in line)
    end = next(n for n, line in enumerate(lines) if b'"task_complete"' in line)
    live_transcript.write_bytes(b"".join([*lines[:with_id], lines[end]]))
    assert live(tmp_path, "b", "steered into failing") is False
