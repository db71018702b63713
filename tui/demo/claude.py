"""The demo's ``claude``: plays scripts in the protocol of ``claude -p --output-format stream-json`` (2.1.197).

See docs/protocols/claude.md; each method prints the lines that the real one prints.
"""

import os
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentdash.tui.demo.command import Command
from agentdash.tui.demo.files import Conversation, hunks
from agentdash.tui.demo.program import Program, check_place, emit, option, refuse, show_interface
from agentdash.tui.demo.script import Beat
from agentdash.tui.demo.turn import Answer

VERSION = "2.1.197"
MODEL = "claude-opus-4-8"
_DOLLARS = (5e-6, 0.5e-6, 25e-6)
"""The price of a token of :data:`MODEL`: input, cached input and output."""
_NOT_GRANTED = "Claude requested permissions to use {tool}, but you haven't granted it yet."
_INTERRUPTED = "[Request interrupted by user]"


class Claude(Program):
    """Claude Code with scripts in place of its model."""

    def __init__(self, demo: Path, speed: float, words: list[str]) -> None:
        live = "--input-format" in words
        super().__init__(demo, _conversation(words), live=live, speed=speed)
        self._model = option(words, "--model") or MODEL
        self.asks = "--permission-prompt-tool" in words
        self._use_mode("bypassPermissions" if "--dangerously-skip-permissions" in words else option(words, _MODE))
        self._inputs: dict[str, tuple[str, Any]] = {}
        """Tool and input of each open ask, by its key."""
        self._open: str | None = None
        """The open call."""
        self._denied: list[dict[str, Any]] = []
        self._message = ("", [0, 0, 0])
        """The id and the use of the current message."""
        self._turn, self._total = [0, 0, 0], [0, 0, 0]
        """The tokens of the turn, and of the process."""
        self._known = {key for key, _ in self.conversation.prompts}
        if not live:
            self.pending[str(uuid.uuid4())] = sys.stdin.read()

    def _use_mode(self, mode: str | None) -> None:
        self._mode = mode or "default"
        self.trusted = self._mode == "bypassPermissions"

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
        result: dict[str, Any] = {}
        match request["subtype"]:
            case "interrupt":
                self.interrupt()
            case "set_model":
                self._model = request["model"]
            case "set_permission_mode":
                self._use_mode(request["mode"])
            case "cancel_async_message":
                result = {"cancelled": self.pending.pop(request["message_uuid"], None) is not None}
            case "end_session":
                self.close()
            case other if other != "set_peer_delivery":
                error = {"subtype": "error", "request_id": key, "error": f"Unsupported control request: {other}"}
                emit({"type": "control_response", "response": error})
                return
        emit({"type": "control_response", "response": {"subtype": "success", "request_id": key, "response": result}})

    def _answered(self, response: dict[str, Any]) -> None:
        """Take an answer, and print it: the receipt."""
        key, given = response["request_id"], response["response"]
        tool, asked = self._inputs.pop(key, ("", None))
        if asked is None:
            return
        emit({"type": "control_response", "response": response})
        allowed = given["behavior"] == "allow"
        values = given.get("updatedInput", {}).get("answers", {}) if allowed else {}
        answer = Answer(
            allowed, bool(given.get("interrupt")), "updatedPermissions" in given, given.get("message", ""), values
        )
        if tool != "Bash":
            self._result(_words_of(answer) if allowed else answer.message, is_error=not allowed)
        self.answer(key, answer)

    def turn_began(self, key: str, text: str) -> None:
        """Print ``system/init``, and repeat the prompt."""
        self._turn, self._denied = [0, 0, 0], []
        init = {"cwd": str(Path.cwd()), "model": self._model, "permissionMode": self._mode, "tools": ["Bash", "Write"]}
        self._line("system", subtype="init", claude_code_version=VERSION, **init)
        if self.live:
            self.prompt_seen(key, text)

    def prompt_seen(self, key: str, text: str) -> None:
        """Repeat a prompt that the model gets."""
        self._replay(key, [{"type": "text", "text": text}], known=False)

    def _replay(self, key: str, content: list[dict[str, str]], *, known: bool) -> None:
        when = {} if known else {"timestamp": datetime.now(UTC).isoformat()}
        self._line("user", message={"role": "user", "content": content}, uuid=key, isReplay=True, **when)

    def turn_ended(self, status: str, error: str) -> None:
        """Print the ``result``, after the words of an error or of an interrupt."""
        if status == "failed":
            self._speak({"type": "text", "text": error}, model="<synthetic>", error="authentication_failed")
        elif status == "interrupted":
            if self._open is not None:
                self._result(_INTERRUPTED, is_error=True)
            self._line("user", message={"role": "user", "content": [{"type": "text", "text": _INTERRUPTED}]})
        usage = dict(zip(("input_tokens", "cache_read_input_tokens", "output_tokens"), _fresh(self._turn), strict=True))
        total = dict(zip(("inputTokens", "cacheReadInputTokens", "outputTokens"), _fresh(self._total), strict=True))
        cost = sum(count * price for count, price in zip(_fresh(self._total), _DOLLARS, strict=True))
        self._line(
            "result",
            subtype="error_during_execution" if status == "interrupted" else "success",
            is_error=status != "completed",
            num_turns=1,
            terminal_reason=status,
            stop_reason={"completed": "end_turn", "failed": "stop_sequence"}.get(status),
            result=error,
            total_cost_usd=cost,
            usage=usage,
            modelUsage={self._model: {**total, "costUSD": cost, "contextWindow": 200_000}},
            permission_denials=self._denied,
        )

    def used(self, call: list[int]) -> None:
        """Begin a message with its use."""
        self._message = (f"msg_{uuid.uuid4().hex}", call)
        self._turn = [one + more for one, more in zip(self._turn, call, strict=True)]
        self._total = [one + more for one, more in zip(self._total, call, strict=True)]

    def thought(self, text: str) -> None:
        """Print a block ``thinking``."""
        self._speak({"type": "thinking", "thinking": text})

    def said(self, text: str) -> None:
        """Print a block ``text``."""
        self._speak({"type": "text", "text": text})

    def planned(self, items: list[tuple[str, str]]) -> None:
        """Print a call of ``TodoWrite``."""
        self._call("TodoWrite", {"todos": [{"content": text, "status": state} for text, state in items]})
        self._result("Todos have been modified successfully.")

    def called(self, call: dict[str, Any]) -> None:
        """Print a call of the tool, with its result."""
        self._call(f"mcp__{call['server']}__{call['tool']}", call["arguments"])
        self._result(call["result"])

    def searched(self, search: dict[str, str]) -> None:
        """Print a call of ``WebSearch``."""
        self._call("WebSearch", {"query": search["query"]})
        self._result(search["result"])

    def retried(self, retry: list[Any]) -> None:
        """Print ``api_retry``."""
        attempt, most, why = retry
        self._line("system", subtype="api_retry", attempt=attempt, max_retries=most, error_status=None, error=why)

    def command_began(self, line: str) -> str:
        """Print a call of ``Bash``."""
        return self._call("Bash", {"command": line, "description": "Run a command"})

    def command_printed(self, call: str, text: str) -> None:
        """Print nothing: the result has the output."""

    def command_ended(self, call: str, line: str, command: Command) -> None:
        """Print the output; that of a failed command begins with its exit code."""
        code, output = command.exit_code, command.output.rstrip("\n")
        if code:
            self._result(f"Exit code {code}\n{output}", is_error=True)
        else:
            self._result(output, details={"stdout": output, "stderr": "", "interrupted": False})

    def command_declined(self, call: str, line: str, answer: Answer) -> None:
        """Print the user's words as the result, or claude's own if nobody can be asked."""
        self._denied.append({"tool_name": "Bash", "tool_use_id": call, "tool_input": {"command": line}})
        self._result(answer.message if self.asks else _NOT_GRANTED.format(tool="Bash"), is_error=True)

    def wrote(self, path: Path, before: str, after: str, error: str) -> None:
        """Print a call of ``Write``."""
        self._call("Write", {"file_path": str(path), "content": after})
        if error:
            self._result(error, is_error=True)
            return
        details = {"type": "update" if before else "create", "filePath": str(path), "content": after}
        self._result(f"File written: {path}", details=details | {"structuredPatch": _patch(before, after)})

    def ask_command(self, call: str, line: str, beat: Beat) -> str:
        """Ask by ``can_use_tool``; an ``always`` allows this command for the session."""
        rules = [{"toolName": "Bash", "ruleContent": line}]
        rule = {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}
        return self._ask("Bash", call, {"command": line}, decision_reason=beat["why"], permission_suggestions=[rule])

    def ask_plan(self, plan: str) -> str:
        """Ask for the call of ``ExitPlanMode``."""
        return self._ask("ExitPlanMode", self._call("ExitPlanMode", {"plan": plan}), {"plan": plan})

    def ask_questions(self, questions: list[dict[str, Any]]) -> str:
        """Ask for the call of ``AskUserQuestion``, whose input has the questions."""
        asked = [
            {
                "question": one["text"],
                "header": one["header"],
                "multiSelect": one.get("several", False),
                "options": one.get("choices", []),
            }
            for one in questions
        ]
        given = {"questions": asked}
        return self._ask("AskUserQuestion", self._call("AskUserQuestion", given), given)

    def ask_cancelled(self, key: str) -> None:
        """Print ``control_cancel_request``."""
        self._inputs.pop(key, None)
        emit({"type": "control_cancel_request", "request_id": key})

    def _ask(self, tool: str, call: str, given: dict[str, Any], **fields: Any) -> str:
        key = str(uuid.uuid4())
        self._inputs[key] = tool, given
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
        name, call = self._message
        fresh, cached, _ = _fresh(call)
        usage = {"input_tokens": fresh, "cache_read_input_tokens": cached, "output_tokens": 1}
        message = {"id": name, "role": "assistant", "model": model or self._model, "content": [block], "usage": usage}
        place = f"{str(uuid.uuid4())[:24]}{len(self.conversation.prompts):012d}"
        self._line("assistant", message=message, uuid=place, **fields)

    def _line(self, kind: str, **fields: Any) -> None:
        emit({"type": kind, "session_id": self.conversation.name, "parent_tool_use_id": None, **fields})


def _fresh(tokens: list[int]) -> list[int]:
    """Return the counts as claude reports them: the input without the cached tokens."""
    return [tokens[0] - tokens[1], *tokens[1:]]


def _words_of(answer: Answer) -> str:
    given = ", ".join(f'"{question}"="{value}"' for question, value in answer.values.items())
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


_MODE = "--permission-mode"


def main() -> int:
    """Act as ``claude``: the arguments are the demo's folder, the speed, and those of claude."""
    demo, speed, *words = sys.argv[1:]
    if "--version" in words:
        sys.stdout.write(f"{VERSION} (Claude Code)\n")
        return 0
    check_place(Path(demo))
    return Claude(Path(demo), float(speed), words).serve() if "-p" in words else show_interface("claude")


if __name__ == "__main__":
    sys.exit(main())
