"""The calls of MCP tools for which codex asks permission, as a form without fields (codex-cli 0.169.0).

codex asks before each tool that its server does not mark as read-only.  ``_meta`` names the tool.  codex passes on the
``_meta`` of a server too, so a server can ask in this way about its own tools: codex names the server
(docs/protocols/codex.md, "Questions and forms").
"""

from typing import Any

import msgspec

from ....asks.model import Ask, AskKind, Verdict
from ...parsing.json_lines import value_of
from .requests import Elicitation

SESSION = {"persist": "session"}
"""The ``_meta`` of an answer that allows the tool for the rest of the session, whatever its arguments."""


def ask_of_call(key: str, params: Elicitation) -> Ask | None:
    """Return the ask for a call of a tool; None if the request is a form of the server."""
    meta = value_of(params.meta)
    if not isinstance(meta, dict) or params.mode != "form" or meta.get("codex_approval_kind") != "mcp_tool_call":
        return None
    name, arguments, persist = _text(meta.get("tool_name")), meta.get("tool_params"), meta.get("persist")
    if not name:
        return None
    always = (Verdict.ALWAYS,) if persist == "session" or (isinstance(persist, list) and "session" in persist) else ()
    return Ask(
        key=key,
        kind=AskKind.TOOL,
        tool=f"mcp__{params.server_name}__{name}",
        title=f"use {name} of {params.server_name}",
        body="" if arguments is None else msgspec.json.format(msgspec.json.encode(arguments)).decode(),
        why=f"{params.message}\n{_text(meta.get('tool_description'))}".strip(),
        verdicts=(Verdict.ALLOW, *always, Verdict.DENY, Verdict.STOP),
        always="this tool, for the rest of the session" if always else "",
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
