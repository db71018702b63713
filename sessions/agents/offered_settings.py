"""The settings of an agent that front ends offer by their own name: an option of ``spawn``, a field of the dialog."""

from collections.abc import Iterator
from functools import cache
from types import NoneType
from typing import Annotated, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

from agentdash.sessions.agents.base import Agent, AgentSettings


class OfferedSetting(Struct, frozen=True, kw_only=True):
    """One such setting: a text, or a switch that is on, off or the agent's own choice."""

    key: str
    """Its key in the agent's section."""
    help: str
    switch: bool


def offered_settings(agent: Agent) -> tuple[OfferedSetting, ...]:
    """Return the settings that an adapter marks with ``extra={"offered": True}``, as far as the agent takes them."""
    every = _marked(agent.settings_type)
    return tuple(one for one in every if agent.takes_instructions or one.key != "instructions")


@cache
def _marked(kind: type[AgentSettings]) -> tuple[OfferedSetting, ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple(one for key, hint in hints.items() for one in _offered(key, hint))


def _offered(key: str, hint: object) -> Iterator[OfferedSetting]:
    if get_origin(hint) is not Annotated:
        return
    value, *metas = get_args(hint)
    for meta in metas:
        if isinstance(meta, Meta) and (meta.extra or {}).get("offered"):
            arms = [arm for arm in (get_args(value) or (value,)) if arm is not NoneType]
            yield OfferedSetting(key=key, help=meta.description or "", switch=arms == [bool])
