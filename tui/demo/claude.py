"""The demo's ``claude``: scripts in the protocol of ``claude -p --output-format stream-json`` (2.1.197).

The lines are those of the real one, as far as the adapter reads them (docs/protocols/claude.md, "Stream").
"""

import json
import os
import sys
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from agentdash.tui.demo.command import Command
from agentdash.tui.demo.files import Conversation, hunks
from agentdash.tui.demo.program import Program, emit, main, option, refuse
from agentdash.tui.demo.turn import Answer

VERSION = "2.1.197"
MODEL = "claude-opus-4-8"
_DOLLARS = (5e-6, 0.5e-6, 25e-6)
"""The price of a token of :data:`MODEL`: input, cached input and output."""
_NOT_GRANTED = "Claude requested permissions to use Bash, but you haven't granted it yet."
_FREE = "bypassPermissions"
_GOOD = ("completed", "compacted")
_REASONS = {"completed": "completed", "compacted": None, "failed": "api_error", "interrupted": "aborted_streaming"}
_INTERRUPTED = "[Request interrupted by user]"


class Claude(Program):
    """Claude Code with scripts in place of its model."""

    def __init__(self, demo: Path, speed: float, words: list[str]) -> None:
        live = "--input-format" in words
        super().__init__(demo, speed, _conversation(words), live=live)
        self._model = option(words, "--model") or MODEL
        self.asks = "--permission-prompt-tool" in words
        self._use_mode(_FREE if "--dangerously-skip-permissions" in words else option(words, "--permission-mode"))
        self._asked: dict[str, str] = {}
        """The tool of each open ask, by its key."""
        self._open: str | None = None
        """The open call."""
        self._denied: list[dict[str, Any]] = []
        self._answer = ("", [0, 0, 0])
        """The id and the use of the model's present message."""
        self._turn, self._total = [0, 0, 0], [0, 0, 0]
        """The tokens of the turn, and of the process."""
        self._known = {key for key, _ in self.conversation.prompts}

    def _use_mode(self, mode: str | None) -> None:
        self._mode = mode or "default"
        self.trusted = self._mode == _FREE

    def request(self, line: dict[str, Any]) -> None:
        """Read a prompt, a request or an answer."""
        if line["type"] == "user":
            key, content = line["uuid"], line["message"]["content"]
            if key in self._known:
                self._replay(key, content, known=True)
            else:
                self._known.add(key)
                self.pending[key] = "\n".join(block["text"] for block in content)
        elif line["type"] == "control_request":
            self._control(line["request_id"], line["request"])
        elif line["type"] == "control_response":
            self._answered(line["response"])

    def _control(self, key: str, request: dict[str, Any]) -> None:
        subtype = request["subtype"]
        reply = {"subtype": "success", "request_id": key, "response": {}}
        if subtype == "interrupt":
            self.interrupt()
        elif subtype == "set_model":
            self._model = request["model"]
        elif subtype == "set_permission_mode":
            self._use_mode(request["mode"])
        elif subtype == "cancel_async_message":
            reply["response"] = {"cancelled": self.pending.pop(request["message_uuid"], None) is not None}
        elif subtype == "end_session":
            self.closed = True
        elif subtype != "set_peer_delivery":
            reply = {"subtype": "error", "request_id": key, "error": f"Unsupported control request: {subtype}"}
        emit({"type": "control_response", "response": reply})

    def _answered(self, response: dict[str, Any]) -> None:
        """Take an answer, and print it: the receipt."""
        key, given = response["request_id"], response["response"]
        tool = self._asked.pop(key, None)
        if tool is None:
            return
        emit({"type": "control_response", "response": response})
        allowed, message = given["behavior"] == "allow", given.get("message", "")
        values = given.get("updatedInput", {}).get("answers", {}) if allowed else {}
        if tool != "Bash":
            self._result(_words_of(values) if allowed else message, is_error=not allowed)
        stops, always = bool(given.get("interrupt")), "updatedPermissions" in given
        self.answer(key, Answer(allowed, stops, always, message, values))

    # What a script shows

    def _began(self, key: str, text: str) -> None:
        self._turn, self._denied = [0, 0, 0], []
        init = {"cwd": str(Path.cwd()), "model": self._model, "permissionMode": self._mode, "tools": ["Bash", "Write"]}
        self._line("system", subtype="init", claude_code_version=VERSION, **init)
        if self.live:
            self._steered(key, text)
        else:
            self._keep("user", message={"role": "user", "content": text})

    def begin(self, key: str) -> None:
        """Begin the turn of a prompt; ``/compact`` plays no script."""
        if self.pending[key].startswith("/compact"):
            self._compact(key)
        else:
            super().begin(key)

    def _compact(self, key: str) -> None:
        """Replace the context by a summary (docs/protocols/claude.md, "Forks and compactions")."""
        self._began(key, self.read(key))
        self._line("system", subtype="status", status=None, compact_result="success")
        before = {"trigger": "manual", "pre_tokens": self.context}
        self._line("system", subtype="compact_boundary", compact_metadata=before)
        asked = "; ".join(text for _, text in self.conversation.prompts[:-1])
        self._line("user", message={"role": "user", "content": f"You asked for this: {asked}"})
        self.context = 0
        self.over("compacted")

    def _steered(self, key: str, text: str) -> None:
        self._replay(key, [{"type": "text", "text": text}], known=False)

    def _replay(self, key: str, content: list[dict[str, str]], *, known: bool) -> None:
        when = {} if known else {"timestamp": datetime.now(UTC).isoformat()}
        self._line("user", message={"role": "user", "content": content}, uuid=key, isReplay=True, **when)

    def _ended(self, status: str, error: str) -> None:
        if status == "failed":
            self._speak({"type": "text", "text": error}, model="<synthetic>", error="authentication_failed")
        elif status == "interrupted":
            if self._open is not None:
                self._result(_INTERRUPTED, is_error=True)
            self._line("user", message={"role": "user", "content": [{"type": "text", "text": _INTERRUPTED}]})
        usage = _named(self._turn, "input_tokens", "cache_read_input_tokens", "output_tokens")
        total = _named(self._total, "inputTokens", "cacheReadInputTokens", "outputTokens")
        cost = sum(count * price for count, price in zip(_fresh(self._total), _DOLLARS, strict=True))
        self._line(
            "result",
            subtype="error_during_execution" if status == "interrupted" else "success",
            is_error=status not in _GOOD,
            num_turns=int(status != "compacted"),
            terminal_reason=_REASONS[status],
            stop_reason={"completed": "end_turn", "failed": "stop_sequence"}.get(status),
            result=error,
            total_cost_usd=cost,
            usage=usage,
            modelUsage={self._model: {**total, "costUSD": cost, "contextWindow": 200_000}},
            permission_denials=self._denied,
        )

    def _used(self, call: list[int]) -> None:
        self._answer = (f"msg_{uuid.uuid4().hex}", call)
        self._turn = [one + more for one, more in zip(self._turn, call, strict=True)]
        self._total = [one + more for one, more in zip(self._total, call, strict=True)]

    def _reasoning(self, text: str) -> None:
        self._speak({"type": "thinking", "thinking": text})

    def _message(self, text: str) -> None:
        self._speak({"type": "text", "text": text})

    def _plan(self, items: list[tuple[str, str]]) -> None:
        self._call("TodoWrite", {"todos": [{"content": text, "status": state} for text, state in items]})
        self._result("Todos have been modified successfully.")

    def _tool(self, call: dict[str, Any]) -> None:
        self._call(f"mcp__{call['server']}__{call['tool']}", call["arguments"])
        self._result(call["result"])

    def _search(self, search: dict[str, str]) -> None:
        self._call("WebSearch", {"query": search["query"]})
        self._result(search["result"])

    def _retry(self, retry: list[Any]) -> None:
        attempt, most, why = retry
        self._line("system", subtype="api_retry", attempt=attempt, max_retries=most, error_status=None, error=why)

    def _run(self, line: str) -> str:
        return self._call("Bash", {"command": line, "description": "Run a command"})

    def _ran(self, command: Command) -> None:
        code, output = command.exit_code, command.output.rstrip("\n")
        if code:
            self._result(f"Exit code {code}\n{output}", is_error=True)
        else:
            self._result(output, details={"stdout": output, "stderr": "", "interrupted": False})

    def _declined(self, call: str, line: str, message: str) -> None:
        self._denied.append({"tool_name": "Bash", "tool_use_id": call, "tool_input": {"command": line}})
        self._result(message if self.asks else _NOT_GRANTED, is_error=True)

    def _write(self, path: Path, before: str, after: str, error: str) -> None:
        self._call("Write", {"file_path": str(path), "content": after})
        if error:
            self._result(error, is_error=True)
            return
        details = {"type": "update" if before else "create", "filePath": str(path), "content": after}
        self._result(f"File written: {path}", details=details | {"structuredPatch": _patch(before, after)})

    def _permission(self, call: str, line: str, why: str) -> str:
        rules = [{"toolName": "Bash", "ruleContent": line}]
        rule = {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}
        return self._ask("Bash", call, {"command": line}, decision_reason=why, permission_suggestions=[rule])

    def _approve(self, plan: str) -> str:
        return self._ask("ExitPlanMode", self._call("ExitPlanMode", {"plan": plan}), {"plan": plan})

    def _questions(self, questions: list[dict[str, Any]]) -> str:
        asked = [
            {"question": one["text"], "header": one["header"], "options": one.get("choices", [])}
            | {"multiSelect": one.get("several", False)}
            for one in questions
        ]
        given = {"questions": asked}
        return self._ask("AskUserQuestion", self._call("AskUserQuestion", given), given)

    def _cancelled(self, key: str) -> None:
        del self._asked[key]
        emit({"type": "control_cancel_request", "request_id": key})

    shows: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "began": _began, "steered": _steered, "over": _ended, "used": _used, "reasoning": _reasoning,
        "message": _message, "plan": _plan, "tool": _tool, "search": _search, "retry": _retry, "run": _run,
        "printed": lambda *_: None, "ran": _ran, "declined": _declined, "write": _write, "permission": _permission,
        "approve": _approve, "questions": _questions, "cancelled": _cancelled,
    }  # fmt: skip

    # Lines

    def _ask(self, tool: str, call: str, given: dict[str, Any], **fields: Any) -> str:
        key = str(uuid.uuid4())
        self._asked[key] = tool
        request = {"subtype": "can_use_tool", "tool_name": tool, "input": given, "tool_use_id": call, **fields}
        emit({"type": "control_request", "request_id": key, "request": request})
        return key

    def _call(self, tool: str, given: dict[str, Any]) -> str:
        self._open = f"toolu_{uuid.uuid4().hex}"
        self._speak({"type": "tool_use", "id": self._open, "name": tool, "input": given})
        return self._open

    def _result(self, text: str, *, is_error: bool = False, details: Any = None) -> None:
        content = [{"type": "tool_result", "tool_use_id": self._open, "content": text, "is_error": is_error}]
        self._line("user", message={"role": "user", "content": content}, tool_use_result=details)
        self._open = None

    def _speak(self, block: dict[str, Any], model: str | None = None, **fields: str) -> None:
        """Print one content block of the current message.

        The number of the prompts ends the line's id, so that a fork at it is known.
        """
        name, call = self._answer
        usage = _named(call, "input_tokens", "cache_read_input_tokens", "output_tokens")
        message = {"id": name, "role": "assistant", "model": model or self._model, "content": [block], "usage": usage}
        place = f"{str(uuid.uuid4())[:24]}{len(self.conversation.prompts):012d}"
        self._line("assistant", message=message, uuid=place, **fields)

    def _line(self, kind: str, **fields: Any) -> None:
        emit({"type": kind, "session_id": self.conversation.name, "parent_tool_use_id": None, **fields})
        if kind in ("user", "assistant"):
            self._keep(kind, **fields)

    def _keep(self, kind: str, **fields: Any) -> None:
        """Add a line to the transcript, which has the prompts and the use of a turn that is stopped."""
        path = self.conversation.home / "projects" / "demo" / f"{self.conversation.name}.jsonl"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        message = fields["message"] | ({"stop_reason": "end_turn"} if kind == "assistant" else {})
        known = {"uuid": str(uuid.uuid4()), "timestamp": datetime.now(UTC).isoformat(), "cwd": str(Path.cwd())}
        line = {"type": kind, "sessionId": self.conversation.name, **known, **fields, "message": message}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def _fresh(tokens: list[int]) -> list[int]:
    """Return the counts as claude reports them: the input without the cached tokens."""
    return [tokens[0] - tokens[1], *tokens[1:]]


def _named(tokens: list[int], *names: str) -> dict[str, int]:
    return dict(zip(names, _fresh(tokens), strict=True))


def _words_of(values: dict[str, str]) -> str:
    given = ", ".join(f'"{question}"="{value}"' for question, value in values.items())
    return f"Your questions have been answered: {given}." if given else "User has approved your plan."


def _patch(before: str, after: str) -> list[dict[str, Any]]:
    """Return the change of a file that was there as hunks; a new file has none."""
    found: list[dict[str, Any]] = []
    for line in hunks(before, after) if before else ():
        if line.startswith("@@"):
            old, new = (part[1:].partition(",") for part in line.split()[1:3])
            sizes = {"oldLines": int(old[2] or 1), "newLines": int(new[2] or 1)}
            found.append({"oldStart": int(old[0]), "newStart": int(new[0]), **sizes, "lines": []})
        else:
            found[-1]["lines"].append(line)
    return found


def _conversation(words: list[str]) -> Conversation:
    home = Path(os.environ["CLAUDE_CONFIG_DIR"])
    resumed = option(words, "--resume")
    if resumed is None:
        return Conversation(home, option(words, "--session-id") or str(uuid.uuid4()))
    conversation = Conversation(home, resumed)
    if not conversation.exists:
        refuse(f"No conversation found with session ID: {resumed}")
    if "--fork-session" not in words:
        return conversation.load()
    place = option(words, "--resume-session-at")
    return conversation.load().fork(str(uuid.uuid4()), int(place[-12:]) if place else None)


def _start(demo: Path, speed: float, words: list[str]) -> Claude | None:
    return Claude(demo, speed, words) if "-p" in words else None


if __name__ == "__main__":
    sys.exit(main("claude", f"{VERSION} (Claude Code)", _start))
