"""Tool calls as the model wrote them, in codex's stream: versions before the typed items printed them.

``function_call`` and the similar items belong to the model's own protocol.  An output names its call by ``call_id``;
an output without one answers the newest open call.
"""

from typing import Any

from msgspec import structs

from ...model import Step, StepKind, StepStatus
from ..parsing.event_parser import EventParser
from . import events

_OPEN = "call:"
"""The prefix of open calls' keys, which no other item has."""


class CallItemParser(EventParser):
    """Follows each call from its item to its output's item."""

    def _call_item(self, item: events.Call | events.CallOutput, at: int | None) -> list[Step]:
        if isinstance(item, events.Call):
            step = self._new(at=at, call_id=item.call_id or item.id or None, status=StepStatus.RUNNING, **_begun(item))
            self._remember(f"{_OPEN}{item.call_id or item.id}", step)
            return [step]
        from .rollout import tools  # the typed items of current versions do not need it

        earlier = self.state.open.pop(self._answered(item), None)
        if earlier is None:
            earlier = self._new(StepKind.TOOL_CALL, item.call_id or "", at=at, call_id=item.call_id)
        answer = tools.answer_of(item.output)
        return [structs.replace(earlier, ended_at=at, **tools.ended(earlier.kind, answer))]

    def _answered(self, item: events.CallOutput) -> str:
        if item.call_id is not None:
            return f"{_OPEN}{item.call_id}"
        return next((key for key in reversed(self.state.open) if key.startswith(_OPEN)), "")


def _begun(item: events.Call) -> dict[str, Any]:
    from .rollout import tools

    if isinstance(item, events.LocalShellCall):
        return tools.command(tools.command_text(item.action.command))
    arguments = item.input if item.input is not None else tools.arguments_of(item.arguments)
    return tools.begun(item.name, item.namespace, arguments)
