"""The requests of ``codex app-server``: what it asks the user (codex-cli 0.169.0, its own schema).

The forms of the answers were measured (docs/protocols/codex.md, "Approvals").
"""

from msgspec import Raw, Struct, field

from agentdash.sessions.agents.codex.app_server.events import Message, Params
from agentdash.sessions.agents.parsing.json_lines import NULL, Words


class NetworkTarget(Struct):
    """A host that a command wants to reach."""

    host: Words = ""
    protocol: Words = ""


class CommandApproval(Params):
    """Permission to run a command."""

    kind: str = "command"
    item_id: str = ""
    command: Words | None = None
    cwd: Words | None = None
    reason: Words | None = None
    network_approval_context: NetworkTarget | None = None
    additional_permissions: Raw = NULL
    available_decisions: list[Raw] | None = None


class FileApproval(Params):
    """Permission to apply the patch of an item."""

    item_id: str = ""
    reason: Words | None = None
    grant_root: Words | None = None


class PermissionsApproval(Params):
    """Wider permissions for a turn or the session."""

    cwd: Words | None = None
    reason: Words | None = None
    permissions: Raw = NULL


class Option(Struct):
    """An offered answer."""

    label: Words = ""
    description: Words = ""


class AskedQuestion(Struct, rename="camel"):
    """One question of the agent."""

    id: str = ""
    header: Words = ""
    question: Words = ""
    is_other: bool = True
    is_secret: bool = False
    options: list[Option] | None = None


class UserInput(Params):
    """Questions of the agent."""

    questions: list[AskedQuestion] = field(default_factory=list)


class Elicitation(Params):
    """A question of an MCP server: a form, or an address to open; or of codex, about a call of the server's tool."""

    server_name: Words = ""
    meta: Raw = field(default=NULL, name="_meta")
    mode: str = "form"
    message: Words = ""
    requested_schema: Raw = NULL
    url: Words | None = None


class AskCommand(Message, tag="item/commandExecution/requestApproval"):
    """codex asks to run a command."""

    params: CommandApproval = field(default_factory=CommandApproval)


class AskFiles(Message, tag="item/fileChange/requestApproval"):
    """codex asks to change files."""

    params: FileApproval = field(default_factory=FileApproval)


class AskPermissions(Message, tag="item/permissions/requestApproval"):
    """codex asks for wider permissions."""

    params: PermissionsApproval = field(default_factory=PermissionsApproval)


class AskUser(Message, tag="item/tool/requestUserInput"):
    """codex asks questions."""

    params: UserInput = field(default_factory=UserInput)


class AskForm(Message, tag="mcpServer/elicitation/request"):
    """An MCP server asks the user."""

    params: Elicitation = field(default_factory=Elicitation)


Asking = AskCommand | AskFiles | AskPermissions | AskUser | AskForm
