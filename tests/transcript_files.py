"""What the tests of transcript readers share: captures, lines made up for one kind, and short names for steps."""

import json
from pathlib import Path

from places import CAPTURES

from agentdash.sessions.model.session import Step
from agentdash.sessions.transcript.turn_file import StepFile

FOLDER = CAPTURES / "transcripts"
ROLLOUTS = sorted(FOLDER.glob("codex-*.rollout.jsonl"))
PROJECTS = sorted(FOLDER.glob("claude-*.project.jsonl"))
CHATS = sorted(FOLDER.glob("gemini-*.session.jsonl"))


def format_of(path: Path) -> str:
    """The format of a capture, by its name."""
    return {"codex": "codex-rollout", "claude": "claude-project", "gemini": "gemini-session"}[path.name.split("-")[0]]


def read(path: Path, name: str | None = None) -> list[Step]:
    return list(StepFile(path, name).steps())


def steps_of(tmp_path: Path, name: str, *events: dict) -> list[Step]:
    """The steps of a file with these lines."""
    path = tmp_path / "transcript.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return read(path, name)


def merged(steps: list[Step]) -> list[Step]:
    """Each step in its latest form, in the order of turn and index."""
    latest = {(step.turn, step.index): step for step in steps}
    return [latest[key] for key in sorted(latest)]


def told(steps) -> list[tuple[str, str]]:
    """Kind and text of each."""
    return [(str(step.kind), step.text) for step in steps]
