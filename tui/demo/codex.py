"""The demo's ``codex``: scripts in the protocols of ``codex exec --json`` and ``codex app-server`` (0.171.0).

The lines are those of the real one, as far as an adapter reads them (docs/protocols/codex.md, "Stream").
"""

import os
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from agentdash.tui.demo.command import Command
from agentdash.tui.demo.files import Conversation, hunks
from agentdash.tui.demo.program import Program, emit, main, option, refuse
from agentdash.tui.demo.rollout import Rollout, tokens
from agentdash.tui.demo.turn import Answer

VERSION = "0.171.0"
MODEL = "gpt-5.5"
_WINDOW = 258_400
_NOT_LIMITED = ("danger-full-access", "dangerFullAccess")
_STATES = {"in_progress": "inProgress"}
_PLAN = "plan"
_CARRY_OUT = {
    "id": _PLAN,
    "header": "Plan",
    "question": "Carry out this plan?",
    "isOther": False,
    "options": [{"label": "Yes", "description": "Carry it out"}, {"label": "No", "description": "Change nothing"}],
}


class Codex(Program):
    """codex with scripts in place of its model."""

    def __init__(
        self, demo: Path, speed: float, conversation: Conversation, *, live: bool, model: str = "", sandbox: str = ""
    ) -> None:
        super().__init__(demo, speed, conversation, live=live)
        self._model = model or MODEL
        self._limit(sandbox)
        self._turn, self._is_new = "", False
        """The id of the turn; it is new until the turn begins."""
        self._items = 0
        self._asked: dict[int, str] = {}
        """The kind of each open ask: a command, a plan or questions."""

    def _limit(self, sandbox: str) -> None:
        self.trusted = sandbox in _NOT_LIMITED

    # Requests

    def request(self, line: dict[str, Any]) -> None:
        """Read a request or an answer."""
        if "method" not in line:
            self._answered(line["id"], line.get("result") or {})
        elif "id" in line:
            reply = _REPLIES.get(line["method"])
            unknown = {"error": {"code": -32601, "message": "unknown method"}}
            found = reply(self, line.get("params", {})) if reply is not None else unknown
            emit({"id": line["id"], **(found if "error" in found else {"result": found})})

    def _open(self, params: dict[str, Any]) -> dict[str, Any]:
        """Begin, resume or fork the thread; the id of a turn, at which it is forked, has the number of its prompt."""
        self.asks = params["approvalPolicy"] != "never"
        self._limit(params["sandbox"])
        self._model = params.get("model") or self._model
        if "threadId" in params:
            kept = Conversation(self.conversation.home, params["threadId"])
            if not kept.exists:
                return {"error": {"code": -32600, "message": f"no rollout found for thread id {kept.name}"}}
            through = params.get("lastTurnId")
            prompts = int(through.split("-")[1]) if through else None
            copy = self.conversation.name if "excludeTurns" in params and self._forks else None
            self.conversation = kept.load() if copy is None else kept.load().fork(copy, prompts)
        sandbox = {"type": _camel(params["sandbox"].replace("-", "_"))}
        thread = {"id": self.conversation.name}
        return {"thread": thread, "model": self._model, "cwd": params["cwd"], "sandbox": sandbox}

    _forks = False

    def _fork(self, params: dict[str, Any]) -> dict[str, Any]:
        self._forks = True
        return self._open(params)

    def _prompted(self, params: dict[str, Any]) -> dict[str, Any]:
        """Take a prompt, also into the running turn."""
        self.pending[params["clientUserMessageId"]] = "\n".join(part["text"] for part in params["input"])
        if not self.running:
            self._new_turn()
        return {"turn": {"id": self._turn, "status": "inProgress"}}

    def _interrupted(self, _: dict[str, Any]) -> dict[str, Any]:
        self.pending.clear()  # codex drops the prompts that it did not read
        self.interrupt()
        return {}

    def _adjusted(self, params: dict[str, Any]) -> dict[str, Any]:
        self._model = params.get("model") or self._model
        policy = params.get("sandboxPolicy")
        if policy is not None:
            self._limit(policy["type"])
        self._notify("thread/settings/updated", threadSettings={"model": self._model, "sandboxPolicy": policy})
        return {}

    def _compacted(self, _: dict[str, Any]) -> dict[str, Any]:
        self._new_turn()
        self._notify("turn/started", turn={"id": self._turn, "status": "inProgress"})
        self._item("context_compaction", self._item("context_compaction", done=False))
        self._notify("turn/completed", turn={"id": self._turn, "status": "completed"})
        return {}

    def _answered(self, key: int, result: dict[str, Any]) -> None:
        kind = self._asked.pop(key, None)
        if kind is None:
            return
        self._notify("serverRequest/resolved", requestId=key)
        values = {name: ", ".join(given["answers"]) for name, given in result.get("answers", {}).items()}
        decision = result.get("decision", "")
        allowed = values.get(_PLAN) == "Yes" if kind == _PLAN else bool(values) or decision.startswith("accept")
        self.answer(str(key), Answer(allowed, decision == "cancel", decision == "acceptForSession", "", values))

    # What a script shows

    def _began(self, key: str, text: str) -> None:
        if not self._is_new:
            self._new_turn()
        self._is_new = False
        Rollout(self.conversation).began(self._turn, self._model)
        if self.live:
            self._notify("turn/started", turn={"id": self._turn, "status": "inProgress"})
            self._steered(key, text)
        else:
            Rollout(self.conversation).prompted(key, text)
            emit({"type": "thread.started", "thread_id": self.conversation.name})
            emit({"type": "turn.started"})

    def _steered(self, key: str, text: str) -> None:
        Rollout(self.conversation).prompted(key, text)
        self._item("user_message", client_id=key, content=[{"type": "text", "text": text}])

    def _ended(self, status: str, error: str) -> None:
        Rollout(self.conversation).ended(self._turn, status)
        if self.live:
            failure = {"error": {"message": error}} if error else {}
            self._notify("turn/completed", turn={"id": self._turn, "status": status, **failure})
        elif status == "completed":
            emit({"type": "turn.completed", "usage": tokens(self.conversation.used)})
        else:
            emit({"type": "turn.failed", "error": {"message": error or status}})

    def _used(self, call: list[int]) -> None:
        Rollout(self.conversation).used(self._turn, call)
        if self.live:
            total, last = (_in_camel(tokens(counts)) for counts in (self.conversation.used, call))
            usage = {"total": total, "last": last, "modelContextWindow": _WINDOW}
            self._notify("thread/tokenUsage/updated", tokenUsage=usage)

    def _reasoning(self, text: str) -> None:
        self._item("reasoning", **({"summary": [text]} if self.live else {"text": text}))

    def _message(self, text: str) -> None:
        self._item("agent_message", text=text)

    def _plan(self, items: list[tuple[str, str]]) -> None:
        if self.live:
            steps = [{"step": text, "status": _STATES.get(state, state)} for text, state in items]
            self._notify("turn/plan/updated", plan=steps)
        else:
            self._item("todo_list", items=[{"text": text, "completed": state == "completed"} for text, state in items])

    def _tool(self, call: dict[str, Any]) -> None:
        result = {"content": [{"type": "text", "text": call["result"]}]}
        self._item("mcp_tool_call", **(call | {"result": result}), status="completed")

    def _search(self, search: dict[str, str]) -> None:
        self._item("web_search", query=search["query"], action={"type": "search"})

    def _retry(self, retry: list[Any]) -> None:
        attempt, most, why = retry
        message = f"Reconnecting... {attempt}/{most}"
        if self.live:
            self._notify("error", error={"message": message, "additionalDetails": why}, willRetry=True)
        else:
            emit({"type": "error", "message": f"{message} ({why})"})

    def _run(self, line: str) -> str:
        return self._item("command_execution", done=False, command=line, status="in_progress")

    def _printed(self, command: Command, text: str) -> None:
        if self.live:
            self._notify("item/commandExecution/outputDelta", itemId=command.call, delta=text)

    def _ran(self, command: Command) -> None:
        status, code, output = "failed" if command.exit_code else "completed", command.exit_code, command.output
        fields: dict[str, Any] = {"command": command.line, "aggregated_output": output, "exit_code": code}
        self._item("command_execution", command.call, **fields, status=status)

    def _declined(self, call: str, line: str, _: str) -> None:
        self._item("command_execution", call, command=line, status="declined")

    def _write(self, path: Path, before: str, after: str, error: str) -> None:
        kind, diff = ("update", "\n".join(hunks(before, after))) if before else ("add", after)
        change = (
            {"path": str(path), "kind": {"type": kind}, "diff": diff}
            if self.live
            else {"path": str(path), "kind": kind}
        )
        if not error:
            Rollout(self.conversation).wrote(path, kind, diff)
        self._item("file_change", changes=[change], status="failed" if error else "completed")

    def _permission(self, call: str, line: str, why: str) -> str:
        fields = {"itemId": call, "command": line, "cwd": str(Path.cwd()), "reason": why}
        return self._ask("command", "item/commandExecution/requestApproval", **fields)

    def _approve(self, plan: str) -> str:
        """Say the plan and ask a question: codex has no other way."""
        self._message(plan)
        return self._ask(_PLAN, "item/tool/requestUserInput", questions=[_CARRY_OUT])

    def _questions(self, questions: list[dict[str, Any]]) -> str:
        asked = [
            {"id": one["key"], "header": one["header"], "question": one["text"], "isOther": one.get("free", True)}
            | {"options": one.get("choices")}
            for one in questions
        ]
        return self._ask("questions", "item/tool/requestUserInput", questions=asked)

    def _cancelled(self, key: str) -> None:
        del self._asked[int(key)]
        self._notify("serverRequest/resolved", requestId=int(key))

    shows: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "began": _began, "steered": _steered, "over": _ended, "used": _used, "reasoning": _reasoning,
        "message": _message, "plan": _plan, "tool": _tool, "search": _search, "retry": _retry, "run": _run,
        "printed": _printed, "ran": _ran, "declined": _declined, "write": _write, "permission": _permission,
        "approve": _approve, "questions": _questions, "cancelled": _cancelled,
    }  # fmt: skip

    # Lines

    def _new_turn(self) -> None:
        self._turn, self._is_new = f"turn-{len(self.conversation.prompts) + 1}-{uuid.uuid4().hex}", True

    def _ask(self, kind: str, method: str, **params: Any) -> str:
        key = time.monotonic_ns()
        self._asked[key] = kind
        emit({"method": method, "id": key, "params": {**self._place(), **params}})
        return str(key)

    def _item(self, kind: str, call: str = "", *, done: bool = True, **fields: Any) -> str:
        """Print the beginning or the end of an item; return its id."""
        self._items += not call
        call = call or f"item_{self._turn[-8:]}_{self._items}"
        if self.live:
            item = {"type": _camel(kind), "id": call, **_in_camel(fields)}
            self._notify("item/completed" if done else "item/started", item=item)
        else:
            emit({"type": "item.completed" if done else "item.started", "item": {"id": call, "type": kind, **fields}})
        return call

    def _notify(self, method: str, **params: Any) -> None:
        emit({"method": method, "params": {**self._place(), **params}})

    def _place(self) -> dict[str, str]:
        return {"threadId": self.conversation.name, "turnId": self._turn}


_REPLIES: dict[str, Callable[[Codex, dict[str, Any]], dict[str, Any]]] = {
    "initialize": lambda *_: {"userAgent": f"codex/{VERSION}", "codexHome": os.environ["CODEX_HOME"]},
    "thread/start": Codex._open,
    "thread/resume": Codex._open,
    "thread/fork": Codex._fork,
    "thread/read": lambda codex, _: {"thread": {"id": codex.conversation.name}},
    "thread/settings/update": Codex._adjusted,
    "thread/compact/start": Codex._compacted,
    "thread/backgroundTerminals/clean": lambda *_: {},
    "turn/start": Codex._prompted,
    "turn/interrupt": Codex._interrupted,
}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def _in_camel(fields: dict[str, Any]) -> dict[str, Any]:
    return {_camel(name): _STATES.get(value, value) if name == "status" else value for name, value in fields.items()}


def _start(demo: Path, speed: float, words: list[str]) -> Codex | None:
    new = Conversation(Path(os.environ["CODEX_HOME"]), str(uuid.uuid4()))
    if words[:1] == ["app-server"]:
        return Codex(demo, speed, new, live=True)
    if words[:1] != ["exec"]:
        return None
    thread = option(words, "--")
    if thread is not None:
        kept = Conversation(new.home, thread)
        if not kept.exists:
            refuse(f"no rollout found for thread id {thread}")
        new = kept.load() if "resume" in words else kept.load().fork(new.name, None)
    is_free = "--dangerously-bypass-approvals-and-sandbox" in words
    sandbox = _NOT_LIMITED[0] if is_free else option(words, "-s") or ""
    return Codex(demo, speed, new, live=False, model=option(words, "-m") or "", sandbox=sandbox)


if __name__ == "__main__":
    sys.exit(main("codex", f"codex-cli {VERSION}", _start))
