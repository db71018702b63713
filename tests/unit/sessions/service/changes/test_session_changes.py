"""A session's steps, transcript and git together: what is said to be missing, and what is not."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from factories import session, turn
from places import CAPTURES
from transcript_files import merged

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Status, Step
from agentdash.sessions.runner.git.git_process import GitAnswer
from agentdash.sessions.service.changes import from_steps
from agentdash.sessions.service.changes.model import SessionChanges
from agentdash.sessions.service.changes.session_changes import session_changes


def steps_of(name: str) -> list[Step]:
    parser = agent_named(name.partition("-")[0]).parser()
    told = [step for line in (CAPTURES / f"{name}.jsonl").read_bytes().splitlines() for step in parser.feed(line)]
    return merged(told + parser.close())


def changes(name: str, steps: Sequence[Step] | None = None, home: Path | None = None, **options: Any) -> SessionChanges:
    """What a captured session did, whose agent has its home there."""
    agent = name.partition("-")[0]
    one = session(agent=agent, status=Status.DONE, cwd="/home/dev/project")
    env = {"CODEX_HOME": str(home) if home else "/nonexistent"}
    return session_changes(one, steps or steps_of(name), [turn()], env, **({"git": False} | options))


def test_claude_gives_its_diffs_itself() -> None:
    found = changes("claude-work")
    (file,) = found.files
    assert (file.path, file.kind, file.touched, file.added, file.removed) == ("notes.txt", "add", 2, 3, 1)
    assert (found.notes, found.git) == ((), None)


def test_of_what_was_declined_no_diff_is_missed() -> None:
    found = changes("claude-denied")
    assert [(file.path, file.kind, file.touched) for file in found.files] == [("notes.txt", None, 0)]
    assert {str(edit.status) for edit in found.files[0].edits} <= {"declined", "failed"}
    assert found.notes == ()


def test_codex_is_asked_for_its_transcript(tmp_path: Path) -> None:
    thread = next(step.agent_session for step in steps_of("codex-work") if step.agent_session)
    folder = tmp_path / "sessions" / "2026" / "11" / "20"
    folder.mkdir(parents=True)
    text = (CAPTURES / "transcripts" / "codex-work.rollout.jsonl").read_bytes()
    (folder / f"rollout-2026-11-20T23-49-30-{thread}.jsonl").write_bytes(text)
    found = changes("codex-work", home=tmp_path)
    assert [(file.path, file.added, file.removed) for file in found.files] == [("notes.txt", 3, 1)]
    assert found.notes == ()


def test_a_transcript_that_is_missed_is_told() -> None:
    (note,) = changes("codex-work").notes
    missed = "and its transcript was not found"
    assert note == f"Codex gave no diff for some edits {missed}: their lines are not counted."


def test_files_beyond_the_limit_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_steps, "MOST_FILES", 0)
    found = changes("claude-work")
    assert (found.files, found.more) == ((), 2)
    assert found.notes == ("Showing the first 0 files; 2 edits to other files not shown.",)


def test_git_is_asked_about_the_folder_of_the_session() -> None:
    found = changes("claude-work", git=True)
    assert found.git is not None
    assert found.git.answer is GitAnswer.NO_FOLDER
