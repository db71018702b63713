"""``[asks]``: the settings for what a live agent asks."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from agentdash.sessions.model import durations
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.asks.model import Answer, Ask, Verdict


class AskRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One of ``[[asks.rules]]``: it applies to an ask that fits all of its conditions."""

    decide: Literal["allow", "deny", "ask"]
    tool: str | None = None
    """The name of the tool, as the agent gives it."""
    command: str | tuple[str, ...] | None = None
    """The first words of a command."""
    folder: str | None = None
    """The folder in which all paths lie; a relative one begins at the session's folder."""
    agent: str | None = None

    def __post_init__(self) -> None:
        """Refuse conditions that can never be fulfilled.

        Raises:
            ValueError: there is one.
        """
        if self.command is not None and not self.words:
            raise ValueError("`command` is empty")
        if self.folder is not None and (not self.folder or self.folder.startswith("~")):
            raise ValueError("`folder` is not an absolute path or one below the session's folder")

    @property
    def words(self) -> tuple[str, ...]:
        """The first words of a command; empty if there is no such condition."""
        return tuple(self.command.split()) if isinstance(self.command, str) else self.command or ()

    def __str__(self) -> str:
        """Return the rule in one line: ``allow tool Bash, command git log``."""
        stated = {"tool": self.tool, "command": " ".join(self.words), "folder": self.folder, "agent": self.agent}
        return f"{self.decide} " + (", ".join(f"{name} {value}" for name, value in stated.items() if value) or "all")


class AsksSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[asks]``: the rules that answer asks, and the fate of an ask that nothing answers."""

    timeout: Annotated[
        str | None,
        Meta(
            description="Time after which on_timeout decides an ask: seconds, or a number with s, m, h or d.",
            examples=["15m"],
            extra={"default": "none"},
        ),
    ] = None
    on_timeout: Annotated[
        Literal["deny", "wait", "stop"],
        Meta(description="Asks without an answer after the timeout: deny, wait for ever, or deny and end the turn."),
    ] = "wait"
    rules: Annotated[
        tuple[AskRule, ...],
        Meta(
            description="Rules that answer asks, as [[asks.rules]]; the first that fits decides. Keys: decide (allow,"
            " deny, ask), tool, command (first words), folder, agent.",
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Refuse a time that cannot be read.

        Raises:
            ValueError: it is not a duration, or is not longer than zero.
        """
        if self.timeout is None:
            return
        try:
            positive = durations.seconds(self.timeout) > 0
        except UsageError as error:
            raise ValueError(str(error).removesuffix(".")) from None
        if not positive:
            raise ValueError("`timeout` is not longer than zero")

    def due_at(self, ask: Ask, asked_at: int) -> int | None:
        """Return the time at which these settings decide an ask, UTC ms; None if it waits for ever."""
        if self.timeout is None or decided_late(self.on_timeout, ask) is None:
            return None
        return asked_at + round(durations.seconds(self.timeout) * 1000)

    def overdue(self, ask: Ask) -> Answer | None:
        """Return the answer to an ask whose time is over; None if it waits for ever.  It never allows anything."""
        verdict = decided_late(self.on_timeout, ask)
        if self.timeout is None or verdict is None:
            return None
        return Answer(verdict=verdict, message=f"No answer within {durations.text(durations.seconds(self.timeout))}.")


def decided_late(on_timeout: str | None, ask: Ask) -> Verdict | None:
    """Return the decision about an ask whose time is over, by ``on_timeout``; None if it waits for ever."""
    first = {"deny": Verdict.DENY, "stop": Verdict.STOP}.get(on_timeout or "")
    if first is None:
        return None
    return next((verdict for verdict in (first, Verdict.DENY, Verdict.STOP) if verdict in ask.verdicts), None)
