"""The requests of codex as :class:`Ask`, and the answers as codex reads them (codex-cli 0.169.0).

``availableDecisions`` lists neither ``acceptForSession`` nor ``decline``, but codex takes both
(docs/protocols/codex.md, "Approvals").
"""

from typing import Any

import msgspec
from msgspec import Raw

from agentdash.sessions.agents.codex.app_server import events
from agentdash.sessions.agents.codex.app_server.events import Elicitation
from agentdash.sessions.agents.codex.item_steps import unwrapped
from agentdash.sessions.agents.mcp_forms import content_of, fields_of
from agentdash.sessions.agents.parsing.json_lines import UNREADABLE, text_in, value_of
from agentdash.sessions.model import typed
from agentdash.sessions.model.session import Change
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Choice, Question, Verdict
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.unhidden import opening

LONGEST_ID = 200
"""Bytes of a request's id; a longer one is not answered."""

_DECISIONS = {
    Verdict.ALLOW: "accept",
    Verdict.ALWAYS: "acceptForSession",
    Verdict.DENY: "decline",
    Verdict.STOP: "cancel",
}
_ACTIONS = {Verdict.ALLOW: "accept", Verdict.ALWAYS: "accept", Verdict.ANSWER: "accept", Verdict.STOP: "cancel"}
_RUNS = "command"
"""The kind of request that a command waits for before it runs."""
_ONE_TIME = "humanCommand"
"""The kind of request that a person must allow each time."""

UNSUPPORTED = {"code": -32601, "message": "agentdash does not support this request"}
"""The answer to a request that is not one of :data:`.events.Asking`."""


def key_of(request_id: Raw) -> str | None:
    """Return the key of a request: the JSON of its id; None if it has no usable id."""
    if not 0 < len(bytes(request_id)) <= LONGEST_ID:
        return None
    try:
        value = typed.decode(request_id)
    except UNREADABLE:
        return None
    return msgspec.json.encode(value).decode() if isinstance(value, int | str) else None


def ask_of(asking: events.Asking, changes: tuple[Change, ...] = ()) -> Ask | None:
    """Return a request as an ask; None if codex waits for no answer.

    Args:
        changes: the changes of the item that it names, which the request itself does not have.
    """
    key = key_of(asking.id)
    if key is None:
        return None
    match asking:
        case events.AskCommand():
            return _command(key, asking.params)
        case events.AskFiles():
            return _files(key, asking.params, changes)
        case events.AskPermissions():
            return _permissions(key, asking.params)
        case events.AskUser():
            return _user(key, asking.params)
        case events.AskForm():
            return _form(key, asking.params)


def unknown_ask(key: str, method: str, params: Raw) -> Ask:
    """Return the ask for a request of another kind, which can only be denied."""
    return Ask(
        key=key,
        kind=AskKind.TOOL,
        tool=method,
        title=f"use {one_line(method)}, which agentdash does not support",
        body=_readable(params),
        verdicts=(Verdict.DENY,),
    )


def answer_line(asking: "events.Asking | None", key: str, answer: Answer) -> bytes:
    """Return the line that answers a request; ``asking`` is None for a request of another kind."""
    head = {"id": typed.decode(key)}
    reply = head | ({"error": UNSUPPORTED} if asking is None else {"result": _result(asking, answer)})
    return msgspec.json.encode(reply) + b"\n"


def _result(asking: "events.Asking", answer: Answer) -> dict[str, Any]:
    verdict = answer.verdict
    match asking:
        case events.AskCommand() | events.AskFiles():
            return {"decision": _DECISIONS.get(verdict, "decline")}
        case events.AskPermissions():
            allowed = verdict in (Verdict.ALLOW, Verdict.ALWAYS)
            granted = value_of(asking.params.permissions) if allowed else {}
            given = granted.items() if isinstance(granted, dict) else ()
            scope = "session" if verdict is Verdict.ALWAYS else "turn"
            return {"permissions": {name: value for name, value in given if value is not None}, "scope": scope}
        case events.AskUser():
            values = answer.values if verdict is Verdict.ANSWER else {}
            return {"answers": {name: {"answers": list(texts)} for name, texts in values.items()}}
        case events.AskForm():
            action = _ACTIONS.get(verdict, "decline")
            fields = fields_of(value_of(asking.params.requested_schema)) if action == "accept" else ()
            content = content_of(fields, answer.values) if action == "accept" else None
            return {"action": action, "content": content, "_meta": SESSION if verdict is Verdict.ALWAYS else None}


def _command(key: str, params: events.CommandApproval) -> Ask:
    """Return the ask for a command; permission for anything but to run it is not one for the command."""
    command = unwrapped(params.command or "")
    verdicts = [Verdict.ALLOW, Verdict.ALWAYS, Verdict.DENY, Verdict.STOP]
    if params.available_decisions is not None:
        # codex takes two that it does not list.
        listed = [*map(value_of, params.available_decisions), _DECISIONS[Verdict.ALWAYS], _DECISIONS[Verdict.DENY]]
        verdicts = [one for one in verdicts if _DECISIONS[one] in listed]
    if params.kind == _ONE_TIME:
        verdicts.remove(Verdict.ALWAYS)
    target, wider = params.network_approval_context, _readable(params.additional_permissions)
    runs = params.kind == _RUNS and target is None and not wider
    what = "the same command" if runs else "this host" if target else "the same"
    verb = "write to a running command" if params.kind == "writeStdin" else "run"
    verb += " with wider permissions" if wider else ""
    return Ask(
        key=key,
        kind=AskKind.COMMAND if runs else AskKind.PERMISSIONS,
        tool="shell",
        title=f"reach {target.host} over {target.protocol}" if target else f"{verb}: {opening(command)}",
        body=f"{command}\n{wider}" if wider else command,
        cwd=params.cwd or "",
        why=params.reason or "",
        verdicts=tuple(verdicts),
        always=f"{what}, for the rest of the session" if Verdict.ALWAYS in verdicts else "",
        each_time=params.kind == _ONE_TIME,
    )


def _files(key: str, params: events.FileApproval, changes: tuple[Change, ...]) -> Ask:
    """Return the ask for a patch; one that also asks for a folder is a wider permission."""
    paths = tuple(path for change in changes for path in (change.path, change.moved_to) if path)
    named = ", ".join(map(_named, changes)) or "files"
    patch = "\n".join(f"{change.kind} {_named(change)}\n{change.diff or ''}".rstrip("\n") for change in changes)
    root = params.grant_root
    wider = f"write anywhere below {root}"
    return Ask(
        key=key,
        kind=AskKind.PERMISSIONS if root else AskKind.EDIT,
        tool="apply_patch",
        title=f"{wider}, and edit {named}" if root else f"edit {named}",
        body=f"{wider}, for the rest of the session\n{patch}".rstrip("\n") if root else patch,
        paths=(*paths, root) if root else paths,
        why=params.reason or "",
        verdicts=tuple(_DECISIONS),
        always="changes of these files, for the rest of the session",
    )


def _named(change: Change) -> str:
    """Return the path of a change, and the new one of a file that is moved."""
    return f"{change.path} -> {change.moved_to}" if change.moved_to else change.path


def _permissions(key: str, params: events.PermissionsApproval) -> Ask:
    return Ask(
        key=key,
        kind=AskKind.PERMISSIONS,
        title="use wider permissions",
        body=_readable(params.permissions),
        cwd=params.cwd or "",
        why=params.reason or "",
        verdicts=(Verdict.ALLOW, Verdict.ALWAYS, Verdict.DENY),
        always="these permissions, for the rest of the session",
    )


def _user(key: str, params: events.UserInput) -> Ask:
    questions = tuple(
        Question(
            key=asked.id,
            text=asked.question,
            header=asked.header,
            choices=tuple(Choice(label=one.label, description=one.description) for one in asked.options or ()),
            free=asked.is_other or not asked.options,
            secret=asked.is_secret,
        )
        for asked in params.questions
    )
    return Ask(
        key=key,
        kind=AskKind.QUESTION,
        title=" ".join(question.text for question in questions).strip() or "a question without a text",
        verdicts=(Verdict.ANSWER, Verdict.DENY),
        questions=questions,
    )


def _form(key: str, params: events.Elicitation) -> Ask:
    questions = fields_of(value_of(params.requested_schema))
    call = None if questions else ask_of_call(key, params)
    if call is not None:
        return call
    allow = Verdict.ANSWER if questions else Verdict.ALLOW
    schema = _readable(params.requested_schema)
    return Ask(
        key=key,
        kind=AskKind.FORM if questions else AskKind.TOOL,
        tool=params.server_name,
        title=f"{'fill in a form of' if questions else 'answer'} {params.server_name}: {opening(params.message)}",
        body="\n".join(filter(None, (params.message, params.url or ("" if questions else schema)))),
        verdicts=(allow, Verdict.DENY, Verdict.STOP),
        questions=questions,
    )


def _readable(raw: Raw) -> str:
    value = value_of(raw)
    return "" if value is None else msgspec.json.format(msgspec.json.encode(value)).decode()


SESSION = {"persist": "session"}
"""The ``_meta`` of an answer that allows the tool for the rest of the session, whatever its arguments."""


def ask_of_call(key: str, params: Elicitation) -> Ask | None:
    """Return the ask for a call of an MCP tool, a form without fields; None if the request is a form of the server.

    codex asks before each tool that its server does not mark as read-only.  ``_meta`` names the tool.  codex passes on
    the ``_meta`` of a server too, so a server can ask in this way about its own tools: codex names the server (0.169.0;
    docs/protocols/codex.md, "Questions and forms").
    """
    meta = value_of(params.meta)
    if not isinstance(meta, dict) or params.mode != "form" or meta.get("codex_approval_kind") != "mcp_tool_call":
        return None
    name, arguments, persist = text_in(meta.get("tool_name")), meta.get("tool_params"), meta.get("persist")
    if not name:
        return None
    always = (Verdict.ALWAYS,) if persist == "session" or (isinstance(persist, list) and "session" in persist) else ()
    return Ask(
        key=key,
        kind=AskKind.TOOL,
        tool=f"mcp__{params.server_name}__{name}",
        title=f"use {name} of {params.server_name}",
        body="" if arguments is None else msgspec.json.format(msgspec.json.encode(arguments)).decode(),
        why=f"{params.message}\n{text_in(meta.get('tool_description'))}".strip(),
        verdicts=(Verdict.ALLOW, *always, Verdict.DENY, Verdict.STOP),
        always="this tool, for the rest of the session" if always else "",
    )
