"""The transcripts of the demo's ``codex``: what a turn used and wrote, as codex records it.

``codex exec`` prints neither its model nor diffs, so agentdash reads them here (docs/protocols/codex.md, "Rollouts").
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentdash.tui.demo.files import Conversation


def tokens(counts: list[int]) -> dict[str, int]:
    """Return input, cached input and output tokens by codex's names, with their sum."""
    names = ("input_tokens", "cached_input_tokens", "output_tokens")
    others = {"cache_write_input_tokens": 0, "reasoning_output_tokens": 0, "total_tokens": counts[0] + counts[2]}
    return dict(zip(names, counts, strict=True)) | others


class Rollout:
    """The transcript of a conversation; it exists when its first turn has begun."""

    def __init__(self, conversation: Conversation) -> None:
        self._thread = conversation.name
        sessions = conversation.home / "sessions"
        now = datetime.now(UTC)
        known = next(sessions.glob(f"*/*/*/rollout-*-{self._thread}.jsonl"), None)
        self._path = known or sessions / f"{now:%Y/%m/%d}" / f"rollout-{now:%Y-%m-%dT%H-%M-%S}-{self._thread}.jsonl"

    def began(self, turn: str, model: str) -> None:
        """Record the beginning of a turn."""
        if not self._path.exists():
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._record("session_meta", {"id": self._thread, "cwd": str(Path.cwd())})
        self._event("task_started", turn_id=turn)
        self._record("turn_context", {"turn_id": turn, "cwd": str(Path.cwd()), "model": model})

    def prompted(self, key: str, text: str) -> None:
        """Record a prompt, and the id with which it came: a stopped agent had read the prompts that are recorded."""
        self._record("response_item", {"type": "message", "role": "user", "content": [{"text": text}]})
        self._event("item_completed", item={"type": "UserMessage", "client_id": key})

    def used(self, turn: str, call: list[int]) -> None:
        """Record the tokens of a call."""
        self._record("token_usage_record", {"thread_id": self._thread, "turn_id": turn, "usage": tokens(call)})

    def wrote(self, path: Path, kind: str, diff: str) -> None:
        """Record the change of a file; ``diff`` is the whole text of a new one."""
        change = {"type": kind, "content": diff} if kind == "add" else {"type": kind, "unified_diff": diff}
        at = int(datetime.now(UTC).timestamp() * 1000)
        self._event("item_completed", item={"type": "FileChange", "changes": {str(path): change}}, completed_at_ms=at)

    def ended(self, turn: str, status: str) -> None:
        """Record the end of a turn."""
        self._event("turn_aborted" if status == "interrupted" else "task_complete", turn_id=turn)

    def _event(self, kind: str, **payload: Any) -> None:
        self._record("event_msg", {"type": kind, **payload})

    def _record(self, kind: str, payload: dict[str, Any]) -> None:
        line = {"timestamp": datetime.now(UTC).isoformat(), "type": kind, "payload": payload}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
