"""The arguments of the tools: each struct is the input schema of one tool."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ..values.membership import Lifecycle

LONGEST_READ = 40_000
"""The most characters of one call of ``read``."""

Worker = Annotated[str, Meta(description="Worker id, or a unique beginning of it with at least 4 characters.")]
Wait = Annotated[
    float,
    Meta(ge=0, le=86_400, description="Seconds to wait for the worker, as wait_for does; 0 returns at once."),
]


class Delegate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``delegate``."""

    task: Annotated[str, Meta(description="The whole task. The worker sees nothing else of your conversation.")]
    title: Annotated[str, Meta(description="Short name for lists.")] = ""
    agent: Annotated[str, Meta(description="claude, codex or another installed agent; default: the settings'.")] = ""
    model: Annotated[str, Meta(description="Model of the agent; default: its own.")] = ""
    preset: Annotated[str, Meta(description="Preset of the settings that completes the start.")] = ""
    working_dir: Annotated[
        str, Meta(description="Folder of the worker; default and root of relative paths: yours.")
    ] = ""
    mode: Annotated[
        str, Meta(description="read-only, edit, full, or a mode of the agent; never more than your own.")
    ] = ""
    lifecycle: Annotated[
        Lifecycle,
        Meta(
            description="linked: stopped with you. detached: goes on. ephemeral: linked, archived when done and read."
        ),
    ] = "linked"
    budget_usd: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="Dollars that it and its own workers may use.")
    ] = None
    budget_tokens: Annotated[
        Annotated[int, Meta(gt=0)] | None, Meta(description="Tokens that it and its own workers may use.")
    ] = None
    key: Annotated[
        str,
        Meta(max_length=200, description="Your name for the task: a repeated call with it returns the same worker."),
    ] = ""
    wait_s: Wait = 0.0


class WaitFor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``wait_for``."""

    sessions: Annotated[
        Annotated[list[str], Meta(min_length=1, max_length=200)] | None,
        Meta(description="Worker ids; default: all your workers."),
    ] = None
    until: Annotated[
        Literal["any", "all"],
        Meta(description="any: until one ends or needs you. all: until all have ended, or one needs you."),
    ] = "any"
    seconds: Annotated[
        float, Meta(ge=0, le=86_400, description="Longest wait. It returns earlier if your client would give up.")
    ] = 240.0


class ListSessions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``list_sessions``."""

    status: Annotated[str, Meta(description="Only workers with this status, in any case.")] = ""
    all: Annotated[bool, Meta(description="Also archived workers.")] = False


class Read(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``read``."""

    session: Worker
    part: Annotated[
        Literal["answer", "steps", "changes", "stderr", "prompt"],
        Meta(description="answer: its last message. steps: what it did. changes: edits of files."),
    ] = "answer"
    turn: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="Number of the turn; default: the newest.")] = (
        None
    )
    offset: Annotated[int, Meta(ge=0, description="First character, as the last line of the part before names it.")] = 0
    limit: Annotated[int, Meta(ge=200, le=LONGEST_READ, description="Most characters to return.")] = 12_000
    full: Annotated[bool, Meta(description="steps, changes: whole outputs and diffs instead of their beginnings.")] = (
        False
    )


class SendMessage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``send_message``."""

    session: Worker
    message: Annotated[str, Meta(description="The next prompt. The worker remembers its conversation.")]
    interrupt: Annotated[bool, Meta(description="End its running turn first, instead of waiting for it.")] = False
    wait_s: Wait = 0.0


class StopSessions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``stop_sessions``."""

    sessions: Annotated[
        list[str], Meta(min_length=1, max_length=200, description="Worker ids. Each can go on with send_message.")
    ]
    reason: Annotated[str, Meta(description="Why: recorded with the stop.")] = ""


class AnswerAsk(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``answer``."""

    session: Worker
    decision: Annotated[
        Literal["allow", "deny", "always"] | None,
        Meta(description="About a permission. always: also the same for the rest of its session."),
    ] = None
    text: Annotated[str, Meta(description="Answer to its question, or the reason of a denial.")] = ""
    ask: Annotated[int | None, Meta(description="Number of the ask, if it has several.")] = None
