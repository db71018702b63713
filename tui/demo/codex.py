"""The demo's ``codex``: plays scripts in the protocols of ``codex exec --json`` and ``codex app-server`` (0.171.0).

See docs/protocols/codex.md; each method prints the lines that the real one prints.
"""

import os
import sys
import uuid
from pathlib import Path
from typing import Any

from agentdash.tui.demo.command import Command
from agentdash.tui.demo.files import Conversation, hunks
from agentdash.tui.demo.program import Program, check_place, emit, option, refuse, show_interface
from agentdash.tui.demo.script import Beat
from agentdash.tui.demo.turn import Answer

VERSION = "0.171.0"
MODEL = "gpt-5.5"
_ANY_SANDBOX = ("danger-full-access", "dangerFullAccess")
_COUNTS = ("inputTokens", "cachedInputTokens", "outputTokens")
_STATES = {"in_progress": "inProgress"}
_YES, _PLAN = "Yes", "plan"
_REFUSED = -32600


class Codex(Program):
    """codex with scripts in place of its model."""

    def __init__(self, demo: Path, speed: float, conversation: Conversation, *, live: bool, model: str | None) -> None:
        super().__init__(demo, conversation, live=live, speed=speed)
        self._model = model or MODEL
        self._turn = ""
        self._items = 0
        self._kinds: dict[int, str] = {}
        """The kind of each open ask: a command, a plan or questions."""

    def take_prompt(self, text: str) -> None:
        """Take the only prompt of ``codex exec``."""
        self.pending[str(uuid.uuid4())] = text
        emit({"type": "thread.started", "thread_id": self.conversation.name})

    def use_sandbox(self, sandbox: str | None) -> None:
        """Take the sandbox, by its name in either protocol."""
        self.trusted = sandbox in _ANY_SANDBOX

    def request(self, line: dict[str, Any]) -> None:
        """Read a request or an answer."""
        if "method" not in line:
            self._answered(line["id"], line.get("result") or {})
        elif "id" in line:
            key, params = line["id"], line.get("params", {})
            reply = getattr(self, f"_on_{line['method'].replace('/', '_')}", None)
            if reply is None:
                self._refuse(key, f"unknown method {line['method']}")
            else:
                reply(key, params)

    def _on_initialize(self, key: Any, _: dict[str, Any]) -> None:
        emit({"id": key, "result": {"userAgent": f"codex/{VERSION}", "codexHome": os.environ["CODEX_HOME"]}})

    def _on_thread_start(self, key: Any, params: dict[str, Any]) -> None:
        """Begin, resume or fork the thread."""
        self.asks = params["approvalPolicy"] != "never"
        self.use_sandbox(params["sandbox"])
        self._model = params.get("model") or self._model
        if "threadId" in params:
            kept = Conversation(self.conversation.home, params["threadId"])
            if not kept.exists:
                self._refuse(key, f"no rollout found for thread id {kept.name}")
                return
            self.conversation = kept.load()
        thread = {"thread": {"id": self.conversation.name}, "model": self._model, "cwd": params["cwd"]}
        emit({"id": key, "result": {**thread, "sandbox": {"type": _camel(params["sandbox"].replace("-", "_"))}}})

    _on_thread_resume = _on_thread_start

    def _on_thread_fork(self, key: Any, params: dict[str, Any]) -> None:
        at = params.get("lastTurnId")
        source = Conversation(self.conversation.home, params["threadId"]).load()
        copy = source.fork(self.conversation.name, int(at.split("-")[1]) if at else None)
        self._on_thread_start(key, params | {"threadId": copy.name})

    def _on_thread_read(self, key: Any, _: dict[str, Any]) -> None:
        emit({"id": key, "result": {"thread": {"id": self.conversation.name}}})

    def _on_turn_start(self, key: Any, params: dict[str, Any]) -> None:
        """Take a prompt, also into the running turn."""
        self.pending[params["clientUserMessageId"]] = "\n".join(part["text"] for part in params["input"])
        if not self.running:
            self._new_turn()
        emit({"id": key, "result": {"turn": {"id": self._turn, "status": "inProgress"}}})

    def _on_turn_interrupt(self, key: Any, _: dict[str, Any]) -> None:
        emit({"id": key, "result": {}})
        self.pending.clear()  # codex drops the prompts that it did not read
        self.interrupt()

    def _on_thread_backgroundTerminals_clean(self, key: Any, _: dict[str, Any]) -> None:  # noqa: N802 - codex's name
        emit({"id": key, "result": {}})

    def _on_thread_settings_update(self, key: Any, params: dict[str, Any]) -> None:
        self._model = params.get("model") or self._model
        settings: dict[str, Any] = {"model": self._model}
        if "sandboxPolicy" in params:
            settings["sandboxPolicy"] = params["sandboxPolicy"]
            self.use_sandbox(params["sandboxPolicy"]["type"])
        emit({"id": key, "result": {}})
        self._notify("thread/settings/updated", threadSettings=settings)

    def _on_thread_compact_start(self, key: Any, _: dict[str, Any]) -> None:
        emit({"id": key, "result": {}})
        self._new_turn()
        self._notify("turn/started", turn={"id": self._turn, "status": "inProgress"})
        self._item("context_compaction", done=False)
        self._item("context_compaction", self._last_item)
        self._notify("turn/completed", turn={"id": self._turn, "status": "completed"})

    def _refuse(self, key: Any, message: str) -> None:
        emit({"id": key, "error": {"code": _REFUSED, "message": message}})

    def _answered(self, key: int, result: dict[str, Any]) -> None:
        kind = self._kinds.pop(key, None)
        if kind is None:
            return
        self._notify("serverRequest/resolved", requestId=key)
        values = {name: ", ".join(given["answers"]) for name, given in result.get("answers", {}).items()}
        decision = result.get("decision", "")
        allowed = decision.startswith("accept") if kind == "command" else bool(values)
        allowed = values.get(_PLAN) == _YES if kind == _PLAN else allowed
        self.answer(str(key), Answer(allowed, decision == "cancel", decision == "acceptForSession", "", values))

    def turn_began(self, key: str, text: str) -> None:
        """Print the beginning of the turn, and the prompt if it is live."""
        if not self.live:
            emit({"type": "turn.started"})
            return
        if self._turn_is_over:
            self._new_turn()
        self._turn_is_over = True
        self._notify("turn/started", turn={"id": self._turn, "status": "inProgress"})
        self.prompt_seen(key, text)

    def prompt_seen(self, key: str, text: str) -> None:
        """Print the item of a prompt."""
        content = [{"type": "text", "text": text}]
        self._item("user_message", client_id=key, content=content)

    def turn_ended(self, status: str, error: str) -> None:
        """Print the end of the turn."""
        if self.live:
            failure = {"error": {"message": error}} if error else {}
            self._notify("turn/completed", turn={"id": self._turn, "status": status, **failure})
        elif status == "completed":
            names = ("input_tokens", "cached_input_tokens", "output_tokens")
            emit({"type": "turn.completed", "usage": dict(zip(names, self.conversation.used, strict=True))})
        else:
            emit({"type": "turn.failed", "error": {"message": error or "interrupted"}})

    def used(self, call: list[int]) -> None:
        """Print the tokens of the thread and of a call; ``exec`` prints them at the end of the turn."""
        if self.live:
            both = {"total": _tokens(self.conversation.used), "last": _tokens(call), "modelContextWindow": 258_400}
            self._notify("thread/tokenUsage/updated", tokenUsage=both)

    def thought(self, text: str) -> None:
        """Print an item ``reasoning``."""
        self._item("reasoning", **({"summary": [text]} if self.live else {"text": text}))

    def said(self, text: str) -> None:
        """Print an item ``agentMessage``."""
        self._item("agent_message", text=text)

    def planned(self, items: list[tuple[str, str]]) -> None:
        """Print the plan."""
        if self.live:
            steps = [{"step": text, "status": _STATES.get(state, state)} for text, state in items]
            self._notify("turn/plan/updated", plan=steps)
        else:
            self._item("todo_list", items=[{"text": text, "completed": state == "completed"} for text, state in items])

    def called(self, call: dict[str, Any]) -> None:
        """Print an item ``mcpToolCall``."""
        fields = {name: call[name] for name in ("server", "tool", "arguments")}
        result = {"content": [{"type": "text", "text": call["result"]}]}
        self._item("mcp_tool_call", **fields, result=result, status="completed")

    def searched(self, search: dict[str, str]) -> None:
        """Print an item ``webSearch``."""
        self._item("web_search", query=search["query"])

    def retried(self, retry: list[Any]) -> None:
        """Print an error that does not end the turn."""
        attempt, most, why = retry
        message = f"Reconnecting... {attempt}/{most}"
        if self.live:
            self._notify("error", error={"message": message, "additionalDetails": why}, willRetry=True)
        else:
            emit({"type": "error", "message": f"{message} ({why})"})

    def command_began(self, line: str) -> str:
        """Print the beginning of an item ``commandExecution``."""
        return self._item("command_execution", done=False, command=line, status="in_progress")

    def command_printed(self, call: str, text: str) -> None:
        """Print more output, if it is live."""
        if self.live:
            self._notify("item/commandExecution/outputDelta", itemId=call, delta=text)

    def command_ended(self, call: str, line: str, command: Command) -> None:
        """Print the end of the item, with the whole output."""
        status, output = "failed" if command.exit_code else "completed", command.output
        fields = {"aggregated_output": output, "exit_code": command.exit_code, "status": status}
        self._item("command_execution", call, command=line, **fields)

    def command_declined(self, call: str, line: str, answer: Answer) -> None:
        """Print the end of the item as declined."""
        self._item("command_execution", call, command=line, status="declined")

    def wrote(self, path: Path, before: str, after: str, error: str) -> None:
        """Print an item ``fileChange``; that of ``exec`` has no diff."""
        kind = "update" if before or error else "add"
        change: dict[str, Any] = {"path": str(path), "kind": kind}
        if self.live:
            change |= {"kind": {"type": kind}, "diff": "\n".join(hunks(before, after)) if before else after}
        self._item("file_change", changes=[change], status="failed" if error else "completed")

    def ask_command(self, call: str, line: str, beat: Beat) -> str:
        """Ask by ``requestApproval``."""
        fields = {"itemId": call, "command": line, "cwd": str(Path.cwd()), "reason": beat["why"]}
        return self._ask("command", "item/commandExecution/requestApproval", **fields)

    def ask_plan(self, plan: str) -> str:
        """Say the plan, and ask if it may be carried out: codex has no other way."""
        self.said(plan)
        options = [{"label": _YES, "description": "Carry it out"}, {"label": "No", "description": "Change nothing"}]
        question = {"id": _PLAN, "header": "Plan", "question": "Carry out this plan?", "isOther": False}
        return self._ask(_PLAN, "item/tool/requestUserInput", questions=[{**question, "options": options}])

    def ask_questions(self, questions: list[dict[str, Any]]) -> str:
        """Ask by ``requestUserInput``."""
        asked = [
            {
                "id": one["key"],
                "header": one["header"],
                "question": one["text"],
                "isOther": one.get("free", True),
                "options": one.get("choices"),
            }
            for one in questions
        ]
        return self._ask("questions", "item/tool/requestUserInput", questions=asked)

    def ask_cancelled(self, key: str) -> None:
        """Print that the request is over."""
        self._kinds.pop(int(key), None)
        self._notify("serverRequest/resolved", requestId=int(key))

    _turn_is_over = True
    """The present id of a turn was used."""
    _last_item = ""

    def _new_turn(self) -> None:
        """Make the id of the next turn: the number of its prompt is in it, so that a fork behind it is known."""
        self._turn_is_over = False
        self._turn = f"turn-{len(self.conversation.prompts) + 1}-{uuid.uuid4().hex}"

    def _ask(self, kind: str, method: str, **params: Any) -> str:
        key = self._asks = self._asks + 1
        self._kinds[key] = kind
        emit({"method": method, "id": key, "params": {**self._place(), **params}})
        return str(key)

    _asks = 0

    def _item(self, kind: str, call: str = "", *, done: bool = True, **fields: Any) -> str:
        """Print the beginning or the end of an item; return its id."""
        self._items += not call
        call = self._last_item = call or f"item_{self._turn[-8:]}{self._items}"
        if not self.live:
            emit({"type": "item.completed" if done else "item.started", "item": {"id": call, "type": kind, **fields}})
            return call
        camel = {_camel(name): _STATES.get(value, value) if name == "status" else value for name, value in fields.items()}
        self._notify("item/completed" if done else "item/started", item={"type": _camel(kind), "id": call, **camel})
        return call

    def _notify(self, method: str, **params: Any) -> None:
        emit({"method": method, "params": {**self._place(), **params}})

    def _place(self) -> dict[str, str]:
        return {"threadId": self.conversation.name, "turnId": self._turn}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def _tokens(counts: list[int]) -> dict[str, int]:
    return {**dict(zip(_COUNTS, counts, strict=True)), "totalTokens": counts[0] + counts[2]}


def _exec(demo: Path, speed: float, words: list[str], new: Conversation) -> int:
    """Serve one turn, as ``codex exec``."""
    conversation, thread = new, option(words, "--")
    if thread is not None:
        kept = Conversation(new.home, thread)
        if not kept.exists:
            refuse(f"no rollout found for thread id {thread}")
        conversation = kept.load() if "resume" in words else kept.load().fork(new.name, None)
    codex = Codex(demo, speed, conversation, live=False, model=option(words, "-m", "--model"))
    codex.use_sandbox(option(words, "-s"))
    codex.trusted = codex.trusted or "--dangerously-bypass-approvals-and-sandbox" in words
    codex.take_prompt(sys.stdin.read())
    return codex.serve()


def main() -> int:
    """Act as ``codex``: the arguments are the demo's folder, the speed, and those of codex."""
    demo, speed, *words = sys.argv[1:]
    if "--version" in words:
        sys.stdout.write(f"codex-cli {VERSION}\n")
        return 0
    check_place(Path(demo))
    new = Conversation(Path(os.environ["CODEX_HOME"]), str(uuid.uuid4()))
    if words[:1] == ["app-server"]:
        return Codex(Path(demo), float(speed), new, live=True, model=None).serve()
    return _exec(Path(demo), float(speed), words, new) if words[:1] == ["exec"] else show_interface("codex")


if __name__ == "__main__":
    sys.exit(main())
