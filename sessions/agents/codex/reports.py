"""codex's reports of its use, call by call (codex-cli 0.169.0)."""

from agentdash.sessions.model.session import Usage
from agentdash.sessions.rules.costs.reports import CALL, ROLLOUT, THREAD, Report, Reported


def note_call(reported: Reported | None, call: Usage, total: Usage, model: str | None, at: int | None) -> None:
    """Note one call, named by the running total of the thread behind it, and that total."""
    if reported is None:
        return
    model = model or reported.model
    key = f"{total.input_tokens}+{total.output_tokens}"
    reported.add(Report(source=CALL, key=key, kind="call", model=model or None, usage=call, at=at))
    reported.add(Report(source=THREAD, key="", kind="thread", model=model or None, usage=total, at=at))


def note_recorded_call(reported: Reported | None, call: Usage, model: str | None, at: int | None) -> None:
    """Note the next call in the transcript of a turn."""
    if reported is None:
        return
    key = str(reported.next_key(ROLLOUT))
    reported.add(Report(source=ROLLOUT, key=key, kind="call", model=model or reported.model, usage=call, at=at))
