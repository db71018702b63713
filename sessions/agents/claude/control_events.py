"""Requests and their answers on claude's control channel (Claude Code 2.1.197 and 2.1.330).

Every field is optional, because other versions leave some out.
"""

from msgspec import Raw, Struct

from ..parsing.json_lines import NULL, Words


class Request(Struct):
    """A request that waits for an answer: ``can_use_tool`` or ``elicitation``.

    Seen with ``--permission-prompt-tool stdio`` (docs/protocols/claude.md, "Approvals").
    """

    subtype: str = ""
    tool_name: Words = ""
    tool_use_id: Words = ""
    agent_id: Words | None = None
    """The sub-agent that asks, which may work in a worktree of its own (2.1.332)."""
    input: Raw = NULL
    """The arguments of the call; an answer that allows it repeats them."""
    description: Words | None = None
    decision_reason: Words | None = None
    """Why claude does not decide by itself."""
    permission_suggestions: Raw = NULL
    """Changes of the permissions by which claude would not ask again; an empty list if it has none."""
    mcp_server_name: Words = ""
    message: Words = ""
    """The words of an MCP server's form."""
    requested_schema: Raw = NULL
    """The JSON schema of its values."""
    url: Words = ""
    """The page that the user should open instead."""


class Decision(Struct, rename="camel"):
    """The user's answer, or claude's own answer to a request."""

    behavior: str | None = None
    """``allow`` or ``deny``."""
    message: Words = ""
    interrupt: bool | None = None
    updated_input: Raw = NULL
    """The arguments with which the call is allowed; the answers to questions are among them."""
    updated_permissions: Raw = NULL
    action: str | None = None
    """``accept``, ``decline`` or ``cancel``: the answer to an elicitation."""
    cancelled: bool | None = None
    """True if a prompt was taken back."""


class Response(Struct):
    """The answer to a request; claude prints each answer that it got once."""

    subtype: str = ""
    """``success`` or ``error``."""
    request_id: Words = ""
    response: Decision | None = None
    error: Words = ""
