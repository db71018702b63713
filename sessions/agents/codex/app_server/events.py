"""The messages of ``codex app-server``: notifications that are steps or facts, and requests to the user.

Those of codex-cli 0.169.0, by its own schema; the forms of the answers were measured
(docs/protocols/codex.md, "Approvals").

Every field but ``method`` is optional, because other versions leave some out (docs/protocols/codex.md, "App-server").
"""

from msgspec import Raw, Struct, field

from agentdash.sessions.agents.codex import items
from agentdash.sessions.agents.codex.app_server.items import AnyItem
from agentdash.sessions.agents.codex.items import Moment
from agentdash.sessions.agents.parsing.json_lines import NULL, Count, Words

ABSENT = Raw(b"")
"""The id of a message without one."""


class Params(Struct, kw_only=True, rename="camel"):
    """The thread and the turn, which most messages name."""

    thread_id: str | None = None
    turn_id: str | None = None


class Message(Struct, tag_field="method", kw_only=True):
    """A line with a method; ``id`` is there if codex waits for an answer."""

    id: Raw = ABSENT


class Error(Struct, rename="camel"):
    """An error of a turn."""

    message: Words = ""
    additional_details: Words | None = None


class Turn(Struct, rename="camel"):
    """A turn of a thread; a sub-agent's turn names the main agent's as its root."""

    id: str = ""
    root_turn_id: str | None = None
    status: str = ""
    error: Error | None = None


class Tokens(items.Tokens, rename="camel"):
    """The same, with a sum."""

    total_tokens: Count | None = 0
    input_tokens: Count | None = 0
    cached_input_tokens: Count | None = 0
    cache_write_input_tokens: Count | None = 0
    output_tokens: Count | None = 0
    reasoning_output_tokens: Count | None = 0


class TokenUsage(Struct, rename="camel"):
    """The tokens of the thread so far, those of the last call, and the size of the model's context."""

    total: Tokens = field(default_factory=Tokens)
    last: Tokens = field(default_factory=Tokens)
    model_context_window: Count | None = None


class TurnParams(Params):
    """A turn."""

    turn: Turn = field(default_factory=Turn)


class ItemParams(Params):
    """An item, and the time of its beginning or end (UTC ms)."""

    item: AnyItem
    started_at_ms: Moment | None = None
    completed_at_ms: Moment | None = None


class DeltaParams(Params):
    """More output of a running command."""

    item_id: str = ""
    delta: Words = ""


class UsageParams(Params):
    """Tokens after a call of the model."""

    token_usage: TokenUsage = field(default_factory=TokenUsage)


class PlanStep(Struct):
    """One line of the plan."""

    step: Words = ""
    status: str = "pending"


class PlanParams(Params):
    """The agent's plan."""

    plan: list[PlanStep] = field(default_factory=list)


class ErrorParams(Params):
    """An error of a turn; codex may try again by itself."""

    error: Error = field(default_factory=Error)
    will_retry: bool = False


class RemarkParams(Params):
    """Words for the user."""

    message: Words | None = None
    summary: Words | None = None
    details: Words | None = None


class ReroutedParams(Params):
    """Another model answers."""

    from_model: Words = ""
    to_model: Words = ""


class Policy(Struct, rename={"kind": "type"}):
    """A sandbox."""

    kind: str = ""


class Settings(Struct, rename="camel"):
    """The settings of a thread."""

    model: str | None = None
    cwd: Words = ""
    sandbox_policy: Policy | None = None


class SettingsParams(Params):
    """The settings of the next turns."""

    thread_settings: Settings = field(default_factory=Settings)


class ResolvedParams(Params):
    """A request of codex that is over."""

    request_id: Raw = NULL


class TurnStarted(Message, tag="turn/started"):
    """A turn begins."""

    params: TurnParams = field(default_factory=TurnParams)


class TurnCompleted(Message, tag="turn/completed"):
    """A turn ended: ``completed``, ``interrupted`` or ``failed``."""

    params: TurnParams = field(default_factory=TurnParams)


class ItemStarted(Message, tag="item/started"):
    """An item begins; a retry begins it again."""

    params: ItemParams


class ItemCompleted(Message, tag="item/completed"):
    """An item ended."""

    params: ItemParams


class OutputDelta(Message, tag="item/commandExecution/outputDelta"):
    """More output of a running command."""

    params: DeltaParams = field(default_factory=DeltaParams)


class UsageUpdated(Message, tag="thread/tokenUsage/updated"):
    """Tokens after a call, and once after a resume."""

    params: UsageParams = field(default_factory=UsageParams)


class PlanUpdated(Message, tag="turn/plan/updated"):
    """The agent's plan changed."""

    params: PlanParams = field(default_factory=PlanParams)


class Trouble(Message, tag="error"):
    """An error; it never ends a turn on its own."""

    params: ErrorParams = field(default_factory=ErrorParams)


class Warned(Message, tag="warning"):
    """A warning."""

    params: RemarkParams = field(default_factory=RemarkParams)


class GuardianWarned(Message, tag="guardianWarning"):
    """A warning of the reviewer of approvals."""

    params: RemarkParams = field(default_factory=RemarkParams)


class ConfigWarned(Message, tag="configWarning"):
    """A remark on codex's own configuration, at each start."""

    params: RemarkParams = field(default_factory=RemarkParams)


class Deprecated(Message, tag="deprecationNotice"):
    """A remark on codex's protocol."""

    params: RemarkParams = field(default_factory=RemarkParams)


class Rerouted(Message, tag="model/rerouted"):
    """Another model answers."""

    params: ReroutedParams = field(default_factory=ReroutedParams)


class SettingsUpdated(Message, tag="thread/settings/updated"):
    """The settings of the next turns changed."""

    params: SettingsParams = field(default_factory=SettingsParams)


class Resolved(Message, tag="serverRequest/resolved"):
    """A request of codex is over: it has our answer, or its turn ended."""

    params: ResolvedParams = field(default_factory=ResolvedParams)


Event = (
    TurnStarted | TurnCompleted | ItemStarted | ItemCompleted | OutputDelta | UsageUpdated | PlanUpdated | Trouble
    | Warned | GuardianWarned | ConfigWarned | Deprecated | Rerouted | SettingsUpdated | Resolved
)  # fmt: skip


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
