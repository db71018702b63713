"""Tool calls as the model wrote them, in codex's stream: versions before the typed items printed them.

``function_call`` and the similar items belong to the model's own protocol.  An output names its call by ``call_id``;
an output without one answers the newest open call.
"""

from ...model import Step, StepKind, StepStatus
from ..parsing.event_parser import EventParser
from ..parsing.step_fields import StepFields, changed
from . import items

_OPEN = "call:"
"""The prefix of open calls' keys, which no other item has."""


class CallItemParser(EventParser):
    """Follows each call from its item to its output's item."""

    def _call_item(self, item: items.Call | items.CallOutput, at: int | None) -> list[Step]:
        if isinstance(item, items.Call):
            step = self._made(_begun(item), at=at, call_id=item.call_id or item.id or None, status=StepStatus.RUNNING)
            self._remember(f"{_OPEN}{item.call_id or item.id}", step)
            return [step]
        from .rollout import tools  # the typed items of current versions do not need it

        earlier = self.state.open.pop(self._answered(item), None)
        if earlier is None:
            earlier = self._new(StepKind.TOOL_CALL, item.call_id or "", at=at, call_id=item.call_id)
        answer = tools.answer_of(item.output)
        return [changed(earlier, tools.ended(earlier.kind, answer), ended_at=at)]

    def _answered(self, item: items.CallOutput) -> str:
        if item.call_id is not None:
            return f"{_OPEN}{item.call_id}"
        return next((key for key in reversed(self.state.open) if key.startswith(_OPEN)), "")


def _begun(item: items.Call) -> StepFields:
    from .rollout import tools

    if isinstance(item, items.LocalShellCall):
        return tools.command(tools.command_text(item.action.command))
    arguments = item.input if item.input is not None else tools.arguments_of(item.arguments)
    return tools.begun(item.name, item.namespace, arguments)
