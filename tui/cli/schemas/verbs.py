"""The types of what each verb prints with ``--json``."""

from typing import Any

from agentdash.sessions.doctor.model import Finding
from agentdash.sessions.model.adjustments import Adjustment
from agentdash.sessions.model.plan_windows import PlanWindow
from agentdash.sessions.model.session import Receipt
from agentdash.sessions.service.events.model import Begin
from agentdash.sessions.service.lifecycle.explain import Explanation
from agentdash.sessions.service.lifecycle.process_list import ProcessInfo
from agentdash.sessions.service.lifecycle.starts.resume_command import ResumeCommand
from agentdash.sessions.service.prompts.effects import Effect
from agentdash.sessions.settings.prices import PriceEntry
from agentdash.sessions.storage.files.trash import Trashed
from agentdash.sessions.storage.turns.takeovers import ByHand
from agentdash.tui.cli.schemas import shapes
from agentdash.tui.cli.schemas.usage_record import UsageRecord

Shape = Any
"""A type; in a list of one item, an array of it."""

NAMES: dict[str, Shape] = {
    "adjustment": Adjustment,
    "ask": shapes.AskRecord,
    "changes": shapes.ChangesRecord,
    "checked-settings": shapes.CheckedSettings,
    "cleaned": shapes.CleanedRecord,
    "counts": shapes.StatusRecord,
    "diagnosis": shapes.Diagnosis,
    "digest": shapes.DigestRecord,
    "effect": Effect,
    "event": shapes.EventRecord,
    "event-begin": Begin,
    "event-step": shapes.StepEvent,
    "explanation": Explanation,
    "exported": shapes.Exported,
    "exported-file": shapes.ExportedFile,
    "failure": shapes.Failure,
    "family-budget": shapes.FamilyBudget,
    "period-budget": shapes.PeriodBudgetRecord,
    "finding": Finding,
    "followed-step": shapes.FollowedStep,
    "forgotten-file": shapes.ForgottenFile,
    "fork-facts": shapes.ForkFacts,
    "interrupted": shapes.Interrupted,
    "key": shapes.KeyRecord,
    "listed-session": shapes.ListedSession,
    "marks": shapes.MarksRecord,
    "message": shapes.MessageRecord,
    "notified": shapes.Notified,
    "past-prompt": shapes.PastPrompt,
    "peeked": shapes.Peeked,
    "plan-window": PlanWindow,
    "planned": shapes.Planned,
    "preset": shapes.PresetRecord,
    "price": PriceEntry,
    "imported-prices": shapes.ImportedPrices,
    "process": ProcessInfo,
    "queue": shapes.Queue,
    "receipt": Receipt,
    "removed": shapes.Removed,
    "repriced": shapes.RepricedRecord,
    "resume-command": ResumeCommand,
    "reviewed-file": shapes.ReviewedFile,
    "sent": shapes.Sent,
    "session": shapes.SessionRecord,
    "setting": shapes.SettingRecord,
    "settings-file": shapes.SettingsFile,
    "shown-session": shapes.ShownSession,
    "started": shapes.Started,
    "step": shapes.StepRecord,
    "taken-over": ByHand,
    "template": shapes.TemplateRecord,
    "trashed": Trashed,
    "trusted-file": shapes.TrustedFile,
    "turn-output": shapes.OutputRecord,
    "usage": UsageRecord,
    "any": Any,
}
"""The schemas by name, one file for each."""

_STARTS = ("started", "started[]", "planned")

VERBS: dict[str, tuple[str, ...]] = {
    "answer": ("ask",),
    "approve": ("ask",),
    "archive": ("session[]",),
    "asks": ("ask[]",),
    "budget": ("family-budget", "period-budget[]"),
    "changes": ("changes",),
    "clean": ("cleaned",),
    "compact": ("started",),
    "config check": ("checked-settings",),
    "config get": ("any",),
    "config init": ("settings-file",),
    "config keys": ("key[]",),
    "config list": ("setting[]",),
    "config path": ("settings-file",),
    "config presets": ("preset[]",),
    "config show": ("any",),
    "config templates": ("template[]",),
    "continue": ("started", "planned"),
    "deny": ("ask",),
    "digest": ("digest",),
    "doctor": ("finding[]", "diagnosis"),
    "events": ("event-begin", "event", "event-step"),
    "explain": ("explanation",),
    "export": ("exported-file", "exported"),
    "fork": ("started", "fork-facts"),
    "inject": ("started", "started[]"),
    "interrupt": ("interrupted",),
    "ls": ("listed-session[]",),
    "mark": ("session[]",),
    "notify": ("notified",),
    "output": ("turn-output",),
    "pin": ("session[]",),
    "prompts": ("past-prompt[]",),
    "ps": ("process[]",),
    "queue": ("queue", "sent", "session", "started", "started[]"),
    "rename": ("session",),
    "restore": ("session[]", "trashed[]"),
    "retry": ("started",),
    "rewind": ("effect", "marks"),
    "rm": ("removed[]",),
    "run": _STARTS,
    "schema": ("any",),
    "set": ("adjustment", "adjustment[]"),
    "show": ("shown-session",),
    "spawn": _STARTS,
    "start": ("session[]",),
    "status": ("counts",),
    "stop": ("receipt[]",),
    "tail": ("followed-step", "peeked"),
    "takeover": ("taken-over", "resume-command"),
    "trajectory": ("step[]", "message[]", "step"),
    "trust": ("reviewed-file", "trusted-file[]", "forgotten-file"),
    "usage": ("usage",),
    "usage plan": ("plan-window[]",),
    "usage prices": ("price[]", "imported-prices"),
    "usage reprice": ("repriced",),
    "view": ("step[]",),
    "wait": ("session[]",),
}
"""The schemas of each verb's output: of all of it, or of each line of the verbs that print JSON lines."""

LINES = {"events": "one on each line", "tail": "one on each line", "trajectory": "one on each line with `--replay`"}
"""The verbs that print one value on each line, and when."""
