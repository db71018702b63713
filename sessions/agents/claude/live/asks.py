"""claude's requests as asks, ``can_use_tool`` and ``elicitation``, and the answers (2.1.197 and 2.1.330).  Pure.

Seen with ``--permission-prompt-tool stdio`` (docs/protocols/claude.md, "Approvals").  claude reads the answers, each a
``control_response``, and prints each of them once.  Those of ``AskUserQuestion`` have the question's text as their key,
and several choices are joined by commas (``sdk-tools.d.ts``).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from agentdash.sessions.agents.claude.events import Request
from agentdash.sessions.agents.claude.tools import EDITS, created
from agentdash.sessions.agents.mcp_forms import content_of, fields_of
from agentdash.sessions.agents.parsing.json_lines import NULL, decoded, text_in, value_of
from agentdash.sessions.agents.parsing.parser import mcp_name
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Choice, Question, Verdict
from agentdash.sessions.text.relative_paths import place_of
from agentdash.sessions.text.unhidden import opening
from agentdash.sessions.text.units import listed

MOST_OPEN_ASKS = 100
"""claude asks one thing at a time, and each of its sub-agents may; the limit bounds memory."""

_ABOUT = ("file_path", "notebook_path", "path", "url", "query", "pattern", "skill", "description")
"""The arguments of which the first is named with a tool."""

_WATCHES = "Monitor"
"""The tool that runs a shell command and reports each line of its output, or those of a server (2.1.332)."""

_READERS = frozenset({"Read", "NotebookRead", "Grep", "Glob", "LS"})
"""The tools that read the files that their arguments name."""


def ask_of(key: str, request: Request, cwd: str = "", *, moved: bool = False) -> Ask | None:
    """Return the ask of a request; None if it is of another kind.

    Args:
        cwd: the folder in which claude works; empty if it is not known.
        moved: claude may have gone to another folder since.
    """
    if request.subtype == "elicitation":
        return _form(key, request, cwd)
    if request.subtype != "can_use_tool":
        return None
    arguments = value_of(request.input)
    given = arguments if isinstance(arguments, dict) else {}
    tool, why = request.tool_name, request.decision_reason or ""
    suggested = always(request.permission_suggestions)
    verdicts = (Verdict.ALLOW, *((Verdict.ALWAYS,) if suggested else ()), Verdict.DENY, Verdict.STOP)
    base = Ask(
        key=key, kind=AskKind.TOOL, tool=tool, title="", cwd=cwd, why=why, verdicts=verdicts, always=suggested,
        unplaced=moved or bool(request.agent_id),
    )  # fmt: skip
    fields: dict[str, Any]
    if tool == "Bash" or (tool == _WATCHES and "command" in given):
        kind = AskKind.PERMISSIONS if _is_unconfined(given) else AskKind.COMMAND
        fields = {"kind": kind, "title": _command_title(given), "body": text_in(given.get("command"))}
        fields["why"] = why or request.description or text_in(given.get("description"))
    elif tool in EDITS:
        path = path_of(given)
        verb = "write" if tool == "Write" else "edit"
        fields = {
            "kind": AskKind.EDIT,
            "title": f"{verb} {place_of(path, cwd).shown if cwd and path else path}",
            "body": proposed(tool, given),
            "paths": tuple(_named(given, "file_path", "notebook_path")),
        }
    elif tool == "AskUserQuestion":
        fields = _question(given)
    elif tool == "ExitPlanMode":
        fields = {"kind": AskKind.PLAN, "title": "carry out its plan", "body": text_in(given.get("plan"))}
    else:
        title = _tool_title(tool, given)
        body = msgspec.json.format(msgspec.json.encode(arguments)).decode("utf-8", "replace")
        described = request.description if request.description and request.description not in title else ""
        fields = {"title": title, "body": body, "why": why or described}
        fields["paths"] = tuple(_read_paths(tool, given)) if tool in _READERS else ()
    return msgspec.structs.replace(base, **fields)


def _form(key: str, request: Request, cwd: str) -> Ask:
    message = f"{request.message}\n{request.url}" if request.url else request.message
    title = f"fill in a form of {request.mcp_server_name}: {opening(request.message)}"
    return Ask(
        key=key, kind=AskKind.FORM, tool=request.mcp_server_name, title=title, body=message, cwd=cwd,
        verdicts=(Verdict.ANSWER, Verdict.DENY, Verdict.STOP), questions=fields_of(value_of(request.requested_schema)),
    )  # fmt: skip


def _question(given: Mapping[str, Any]) -> dict[str, Any]:
    questions = questions_of(given)
    more = f" (and {len(questions) - 1} more)" if len(questions) > 1 else ""
    return {
        "kind": AskKind.QUESTION,
        "title": f"{opening(questions[0].text)}{more}" if questions else "a question without a text",
        "questions": questions,
        "verdicts": (Verdict.ANSWER, Verdict.DENY, Verdict.STOP),
    }


def _is_unconfined(given: Mapping[str, Any]) -> bool:
    """Return whether a command would run without a sandbox; any value but a plain no counts."""
    return given.get("dangerouslyDisableSandbox") not in (None, False)


def _command_title(given: Mapping[str, Any]) -> str:
    how = " without a sandbox" if _is_unconfined(given) else ""
    how += " in the background" if given.get("run_in_background") is True else ""
    return f"run{how}: {opening(text_in(given.get('command')))}"


def _tool_title(tool: str, given: Mapping[str, Any]) -> str:
    server, name = mcp_name(tool)
    title = f"use {name} of {server}" if server else f"use {name}"
    about = next((text for key in _ABOUT if (text := text_in(given.get(key)))), "")
    return f"{title}: {opening(about)}" if about else title


def _named(given: Mapping[str, Any], *keys: str) -> Iterator[str]:
    return (text for key in keys if (text := text_in(given.get(key))))


def _read_paths(tool: str, given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths that a tool reads: without one, it reads the folder; a pattern can begin at another."""
    named = list(_named(given, "file_path", "notebook_path", "path"))
    yield from named or ["."]
    path = named[-1] if named else "."
    if pattern := text_in(given.get({"Glob": "pattern", "Grep": "glob"}.get(tool, ""))):
        literal = re.split(r"[*?\[{]", pattern)[0]
        yield f"{path}/.." if ".." in pattern else literal if literal[:1] in ("/", "~") else f"{path}/{literal}"


def questions_of(given: Mapping[str, Any]) -> tuple[Question, ...]:
    """Return the questions of an ``AskUserQuestion``; each accepts an answer in words."""
    return tuple(
        Question(
            key=text_in(entry.get("question")),
            text=text_in(entry.get("question")),
            header=text_in(entry.get("header")),
            choices=tuple(
                Choice(label=text_in(option.get("label")), description=text_in(option.get("description")))
                for option in _objects(entry.get("options"))
            ),
            several=entry.get("multiSelect") is True,
        )
        for entry in _objects(given.get("questions"))
    )


def _objects(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


_NO_WORDS = "The user does not allow this."
"""claude needs words with each denial: they are the result of the call."""

CANCELLED: dict[str, Any] = {"action": "cancel"}
"""The answer to a form that is closed without a decision."""

_AGREES = frozenset({Verdict.ALLOW, Verdict.ALWAYS})
_ANSWERS = _AGREES | {Verdict.ANSWER}


def response_to(ask: Ask, request: Request, answer: Answer) -> dict[str, Any] | None:
    """Return the answer to a request; None if the request cannot be answered in this way.

    An ``always`` for which claude has no suggestion allows it once.
    """
    verdict = answer.verdict
    if ask.kind is AskKind.FORM:
        if verdict in _ANSWERS:
            return {"action": "accept", "content": content_of(ask.questions, answer.values)}
        return CANCELLED if verdict is Verdict.STOP else {"action": "decline"}
    if verdict in (Verdict.DENY, Verdict.STOP):
        denied: dict[str, Any] = {"behavior": "deny", "message": answer.message or _NO_WORDS}
        return denied | ({"interrupt": True} if verdict is Verdict.STOP else {})
    if ask.kind is AskKind.QUESTION:
        members = decoded(request.input, dict[str, Raw]) or {}
        answers = {key: ", ".join(values) for key, values in answer.values.items() if values}
        return {"behavior": "allow", "updatedInput": {**members, "answers": answers}}
    if verdict not in _AGREES:
        return None
    allowed = {"behavior": "allow", "updatedInput": request.input if request.input != NULL else {}}
    if verdict is Verdict.ALWAYS and ask.always:
        allowed["updatedPermissions"] = for_session(request.permission_suggestions)
    return allowed


_VERBS = {"allow": "allow", "deny": "deny", "ask": "ask about"}


def always(suggestions: Raw) -> str:
    """Return what an ``always`` covers: ``allow Bash(git push) for this session``; empty if nothing."""
    words = ", and ".join(_change(text_in(entry.get("type")), entry) for entry in for_session(suggestions))
    return f"{words} for this session" if words else ""


def for_session(suggestions: Raw) -> list[dict[str, Any]]:
    """Return the permissions that claude suggests with an ask as changes of this session's permissions alone.

    claude suggests most rules for a settings file in the project.  2.1.197 then writes that file and asks again in the
    next turn.  So an ``always`` changes no file of the user.
    """
    entries = value_of(suggestions)
    if not isinstance(entries, list):
        return []
    return [{**entry, "destination": "session"} for entry in entries if isinstance(entry, dict)]


def _change(kind: str, entry: dict[str, Any]) -> str:
    if kind == "setMode":
        return f"permission mode {text_in(entry.get('mode'))}"
    if kind in ("addDirectories", "removeDirectories"):
        verb = "work in" if kind == "addDirectories" else "no more work in"
        return f"{verb} {_names(entry.get('directories'))}"
    rules = entry.get("rules")
    named = _names([_rule(rule) for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else None)
    behavior = text_in(entry.get("behavior"))
    verb = _VERBS.get(behavior, behavior)
    if kind == "addRules":
        return f"{verb} {named}"
    return f"{'remove the rule' if kind == 'removeRules' else 'replace the rules:'} {verb} {named}"


def _rule(rule: dict[str, Any]) -> str:
    tool, content = text_in(rule.get("toolName")), text_in(rule.get("ruleContent"))
    return f"{tool}({content})" if content else tool


def _names(values: Any) -> str:
    return listed([text_in(value) for value in values]) if isinstance(values, list) and values else "nothing"


_CONTEXT = 3
"""Unchanged lines that are shown before and behind a change."""


def path_of(given: Mapping[str, Any]) -> str:
    """Return the file that a call of an editing tool names."""
    return text_in(given.get("file_path") or given.get("notebook_path"))


def proposed(tool: str, given: Mapping[str, Any]) -> str:
    """Return the edit that a tool would make as a unified diff; empty if the arguments have none.

    A request has the arguments of the call only.  So the numbers of the lines are not known, and of a file that would
    be overwritten only the new text is.

    Args:
        tool: one of :data:`..tools.EDITS`.
    """
    if tool == "Write":
        return created(text_in(given.get("content")))
    if tool == "NotebookEdit":
        mode, cell = text_in(given.get("edit_mode")) or "replace", text_in(given.get("cell_id"))
        added = (f"+{line}" for line in _lines(text_in(given.get("new_source"))))
        return "\n".join([f"@@ {mode} cell {cell}".rstrip() + " @@", *added])
    edits = given.get("edits") if tool == "MultiEdit" else [given]
    return "\n".join(_replacement(edit) for edit in edits if isinstance(edit, dict)) if isinstance(edits, list) else ""


def _replacement(edit: Mapping[str, Any]) -> str:
    old, new = (_lines(text_in(edit.get(name))) for name in ("old_string", "new_string"))
    same = _common(old, new)
    tail = _common(old[same:][::-1], new[same:][::-1])
    before, behind = old[max(0, same - _CONTEXT) : same], old[len(old) - tail :][:_CONTEXT]
    removed, added = old[same : len(old) - tail], new[same : len(new) - tail]
    head = "@@ every occurrence @@" if edit.get("replace_all") is True else "@@"
    signed = ((" ", before), ("-", removed), ("+", added), (" ", behind))
    return "\n".join([head, *(sign + line for sign, lines in signed for line in lines)])


def _lines(text: str) -> list[str]:
    """Return the lines of a text; only a newline ends a line."""
    return text.removesuffix("\n").split("\n") if text else []


def _common(one: list[str], other: list[str]) -> int:
    """Return the number of equal lines at the beginning of both."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
