"""The types of what ``--json`` prints.

Most are made from the types of the values themselves, so that no list of fields is written twice.  ``agentdash`` itself
loads none of them: :mod:`.documents` makes files of them.
"""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, get_type_hints

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct, structs

from agentdash.sessions.doctor.model import Finding
from agentdash.sessions.model.adjustments import Adjustment
from agentdash.sessions.model.compaction import RecordedCompaction
from agentdash.sessions.model.plan_windows import PlanWindow
from agentdash.sessions.model.session import Change, Prompt, Receipt, Session, Status, Step, Turn, TurnMode
from agentdash.sessions.rules import json_schema
from agentdash.sessions.rules.asks.model import Ask, Verdict
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.sessions.rules.attention import Attention
from agentdash.sessions.rules.conversation.marks import Mark
from agentdash.sessions.rules.costs.family_sums import FamilySum
from agentdash.sessions.rules.costs.repricing import RepricedCosts
from agentdash.sessions.rules.digest.collect import Digest
from agentdash.sessions.rules.launch import Command, Launch
from agentdash.sessions.service.changes.model import Edit, FileChanges, NetChanges, NetFile, SessionChanges
from agentdash.sessions.service.events.model import EventRecord as PlainEvent
from agentdash.sessions.service.events.model import StepEvent as PlainStepEvent
from agentdash.sessions.settings.sections import Preset
from agentdash.sessions.storage.counts import Counts

SOURCES: dict[type, tuple[type, ...]] = {}
"""The types from which others were made: they describe the fields."""


def derived(name: str, source: type[Struct], /, *, optional: Collection[str] = (), **more: Any) -> Any:
    """Make a type from another one.

    Args:
        optional: fields that may be missing.
        more: types of further fields, or of fields that are replaced.
    """
    taken = {key: hint for key, hint in printed_types(source).items() if key not in more} | more
    made = defstruct(name, _fields(taken, optional), kw_only=True, frozen=True, module=__name__)
    made.__doc__ = source.__doc__
    SOURCES[made] = (source,)
    return made


def printed_types(source: type[Struct]) -> dict[str, Any]:
    """Return the types of the fields of a type that are printed, by their names in JSON."""
    hints, names = get_type_hints(source, include_extras=True), json_schema.printed(source)
    return {field.encode_name: hints[field.name] for field in structs.fields(source) if field.name in names}


def shape(name: str, doc: str, /, sources: tuple[type, ...] = (), **fields: Any) -> Any:
    """Make a type with these fields; ``sources`` are types that describe fields of the same name."""
    made = defstruct(name, _fields(fields, ()), kw_only=True, frozen=True, module=__name__)
    made.__doc__ = doc
    SOURCES[made] = sources
    return made


def told(kind: Any, text: str) -> Any:
    """Return the type of a field with the description of the field."""
    return Annotated[kind, Meta(description=text)]


def list_of(kind: Any) -> Any:
    """Return the type of a list of values."""
    return list[kind]


def _fields(types: Mapping[str, Any], optional: Collection[str]) -> list[Any]:
    return [(key, kind | UnsetType, UNSET) if key in optional else (key, kind) for key, kind in types.items()]


SessionRecord = derived(
    "SessionRecord", Session,
    context_percent=told(int | None, "The part of the model's context in use."),
    attention=told(Attention | None, "The reason why it needs the user; null if it does not."),
    unread=told(int, "Steps since the user opened it; 0 if that is not known."),
)  # fmt: skip
FamilyRecord = derived("FamilyRecord", FamilySum, states=dict[str, int])
ListedSession = derived("ListedSession", SessionRecord, family=FamilyRecord | None, optional=("family",))
Sent = shape(
    "Sent", "A prompt that was sent or waits.",
    key=str, state=str, turn=int | None, position=told(int | None, "Its place in the queue."),
    held=told(str | None, "The reason why it is not sent."), text=str,
    due_at=told(int | None, "It waits until then; null for no time."), created_at=int,
)  # fmt: skip
ForkFacts = shape(
    "ForkFacts", "The place behind which a fork begins.",
    origin=told(str, "The session that is forked."), turn=told(int | None, "null for the beginning."),
    step=told(int | None, "null for the end of the turn."),
    how=told(str, "The way in which the agent goes on: `native`, `retold` or `new`."),
)  # fmt: skip
Failure = shape("Failure", "An error: its type, and its text for the user.", type=str, message=str)
CONTINUES = told(
    dict[str, Any],
    "Of `continue`: the source (`session`, `agent`), the place in it behind which the conversation goes on (`turn`, "
    "`step`), the numbers of prompts and messages (`messages`) and of other actions (`actions`) in the text, and of "
    "the entries that are left out of it (`left_out`).",
)
Started = derived(
    "Started", SessionRecord, warnings=list[str],
    prompt=told(Sent | None, "Of `inject`, `retry`, `compact`: the prompt; null if there is an error."),
    error=told(Failure | None, "Of an `inject` into several sessions: null if there is a prompt."),
    by=told(str, "Of `compact`: `agent` or `summary`."), fork=ForkFacts, continues=CONTINUES,
    optional=("prompt", "error", "by", "fork", "continues"),
)  # fmt: skip
Planned = derived("Planned", Launch, continues=CONTINUES, optional=("continues",))
SOURCES[Planned] = (Command, Launch)
ShownSession = derived(
    "ShownSession", SessionRecord, turns=list[Turn], prompts=list[Prompt], adjustments=list[Adjustment],
    compactions=list[RecordedCompaction],
)  # fmt: skip
ChangeRecord = derived("ChangeRecord", Change)
_OF_SOME = {*printed_types(Step), "cut", "workers"} - {*json_schema.STEP_KEYS}
"""The fields that only some steps have."""
StepRecord = derived(
    "StepRecord", Step, changes=list_of(ChangeRecord),
    cut=told(bool, "True if the step was cut by going back."),
    workers=told(list[str], "Of `trajectory`: the ids of the sessions that it started."),
    optional=_OF_SOME, **{"from": told(
        str | None, "Of a prompt: `agentdash` if it wrote it, `another program` if it did not come through agentdash.",
    )},
)  # fmt: skip
MessageRecord = derived("MessageRecord", StepRecord, visible=bool, optional=_OF_SOME)
FollowedStep = derived("FollowedStep", StepRecord, session=str, optional=_OF_SOME)
Peeked = shape("Peeked", "A session and its last steps.", session=SessionRecord, steps=list_of(StepRecord))
TurnSettings = shape("TurnSettings", "The settings of a turn.", turn=int, mode=TurnMode | None)
Exported = shape(
    "Exported",
    "A session as a document.",
    session=SessionRecord,
    turns=list_of(TurnSettings),
    steps=list_of(StepRecord),
)
ExportedFile = shape("ExportedFile", "A document that was written.", path=str, format=str, steps=int, bytes=int)
EditRecord = derived("EditRecord", Edit, optional=("diff",))
FileRecord = derived("FileRecord", FileChanges, edits=list_of(EditRecord))
NetFileRecord = derived("NetFileRecord", NetFile, optional=("diff",))
NetRecord = derived("NetRecord", NetChanges, files=list_of(NetFileRecord))
ChangesRecord = derived("ChangesRecord", SessionChanges, net=NetRecord | None, files=list_of(FileRecord))
DigestRecord = shape(
    "DigestRecord", "The facts of a part of a session.", (Digest,), session=str, status=Status,
    turn=told(int | None, "The only turn; null for all."),
    since_steps=told(int | None, "The read marker at which the part begins; null for the whole session."),
    since_at=told(int | None, "The time of that marker."),
    **printed_types(Digest),
)  # fmt: skip
AskRecord = shape(
    "AskRecord", "An ask of a live agent, and its fate.", (Ask, RecordedAsk),
    **printed_types(RecordedAsk) | printed_types(Ask) | {"verdicts": list[Verdict]},
)  # fmt: skip
MarkRecord = derived("MarkRecord", Mark, has_effect=bool, undoable=bool)
MarksRecord = shape(
    "MarksRecord", "The marks of a conversation, and the compactions that its agent reported.",
    marks=list_of(MarkRecord), compactions=list[RecordedCompaction],
)  # fmt: skip
Removed = shape("Removed", "A session that was deleted.", deleted=str, receipt=Receipt | None)
Interrupted = shape("Interrupted", "The end of a turn that was interrupted.", receipt=Receipt, prompt=Sent | None)
UnconfirmedPrompt = shape(
    "UnconfirmedPrompt", "A prompt of which it is not known whether the agent got it.",
    turn=int, text=str, steered=bool, created_at=int,
)  # fmt: skip
Queue = shape(
    "Queue", "The prompts of a session that wait.", session=str, held=str | None, unconfirmed=int,
    unconfirmed_prompts=list_of(UnconfirmedPrompt), prompts=list_of(Sent),
)  # fmt: skip
AmountRecord = shape("AmountRecord", "Tokens and money.", tokens=int | None, cost_usd=float | None)
SpentRecord = shape(
    "SpentRecord", "Tokens and money that were spent, with the number of sessions of unknown cost and tokens.",
    tokens=int | None, cost_usd=float | None, reported_usd=float | None, computed_usd=float | None, missing=int,
    tokens_missing=int,
)  # fmt: skip
RESERVED = told(AmountRecord, "Reserved for turns that have not ended, beyond what they used.")
FamilyBudget = shape(
    "FamilyBudget", "The budget of a lead, and the sums of it and all its workers.",
    id=told(str, "A session, or the key of a lead outside agentdash."),
    budget=told(AmountRecord, "A value that is null is not limited."),
    source=told(Literal["session", "settings"] | None, "The place that sets the budget; null if there is none."),
    spent=SpentRecord, reserved=RESERVED, left=AmountRecord, workers=int,
    open=told(int, "Workers that are not ended."),
)  # fmt: skip
PeriodBudgetRecord = shape(
    "PeriodBudgetRecord", "The budget of a day or a week, and what is used of it.",
    folder=told(str | None, "null for all folders."), period=Literal["day", "week"], action=Literal["warn", "stop"],
    budget=told(AmountRecord, "A value that is null is not limited."),
    raised=told(bool, "True if the user changed it for the current day or week."), spent=SpentRecord,
    reserved=RESERVED, left=AmountRecord, unknown_cost=told(int, "Sessions whose cost is not known."),
)  # fmt: skip
ImportedPrices = shape("ImportedPrices", "Prices that were imported.", source=str, as_of=str, models=int)
StatusRecord = derived("StatusRecord", Counts, plans=list[PlanWindow])
RepricedRecord = derived("RepricedRecord", RepricedCosts, dry_run=bool, all=bool, since=str | None, model=str | None)
PastPrompt = shape(
    "PastPrompt", "An earlier prompt.", text=str, session=told(str, "The session to which it went last."), at=int
)
CleanedRecord = shape(
    "CleanedRecord", "The result of a clean-up.", dry_run=bool, deleted=list[str], kept=list[str], removed=list[str],
    empty_folders=int, removed_bytes=int,
)  # fmt: skip
OutputRecord = shape(
    "OutputRecord", "The output of a turn.", session=str, turn=int, stream=Literal["stdout", "stderr"], path=str,
    begin_byte=int, text=str, lossy=bool,
)  # fmt: skip
Diagnosis = shape("Diagnosis", "A rebuilt database, and the checks.", rebuilt=Any, findings=list[Finding])
KeyRecord = shape(
    "KeyRecord", "An action of the dashboard, and its keys.", action=str, keys=list[str], default=list[str],
    where=list[str], help=str, fixed=bool, changes=bool,
)  # fmt: skip
WayRecord = shape("WayRecord", "The way to notify the user at a terminal.", kind=str, why=str, tmux=bool, bell=bool)
Notified = shape("Notified", "A notification that was sent or not.", sent=bool, way=WayRecord | None)
SettingRecord = shape(
    "SettingRecord", "A setting, its value and its source.", key=str, value=Any, origin=str, path=str | None,
    line=int | None, profile=str | None, takes=str, default=Any, default_words=str, choices=list[Any], description=str,
)  # fmt: skip
SettingsFile = shape("SettingsFile", "The settings file.", path=str, exists=bool)
CheckedSettings = shape(
    "CheckedSettings", "The settings file, and the profiles that were checked.", path=str, exists=bool, ok=bool,
    profiles=list[str],
)  # fmt: skip
TrustedFile = shape("TrustedFile", "A trusted project file.", path=str, state=str, sha256=str, trusted_at=int)
ProjectSetting = shape(
    "ProjectSetting", "A setting of a project.", key=str, line=int | None, value=Any, own=Any, effective=Any
)
ReviewedFile = shape(
    "ReviewedFile", "A project file and its settings.", path=str, state=str, reason=str | None, sha256=str | None,
    trusted_at=int | None, settings=list_of(ProjectSetting), diff=Any,
)  # fmt: skip
ForgottenFile = shape("ForgottenFile", "A project file that is not trusted.", path=str, state=Literal["untrusted"])
PresetRecord = derived("PresetRecord", Preset, name=str, optional=printed_types(Preset))
TemplateRecord = shape("TemplateRecord", "A prompt template.", name=str, text=str, description=str, fields=list[str])
EventRecord = derived("EventRecord", PlainEvent, session=SessionRecord | None)
StepEvent = derived("StepEvent", PlainStepEvent, step=StepRecord)
