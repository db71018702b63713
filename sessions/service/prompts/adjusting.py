"""Change the model or the mode of a session while it exists: at once if its agent is live, else for its next turn."""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.agents.names import LONGEST_MODEL, is_model
from agentdash.sessions.agents.planned import launch_of
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.adjustments import Adjustment, Setting
from agentdash.sessions.model.errors import UnknownSessionError, UsageError
from agentdash.sessions.model.session import Session
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.rules.launch import Launch, TurnPlan, plan_like, requested_model, with_mode, with_model
from agentdash.sessions.runner.runner_process import poke
from agentdash.sessions.service.families.rights import acts
from agentdash.sessions.service.lifecycle.session_ref import check_here
from agentdash.sessions.service.lifecycle.starts.launch_plan import checked_text, recorded_profile
from agentdash.sessions.service.lifecycle.starts.own_folders import check_reach
from agentdash.sessions.service.lifecycle.wait import wait_until
from agentdash.sessions.service.managing.housekeeping import ManagerPart

ANSWER_SECONDS = 5.0
"""The time that a running agent is given to confirm a change before the caller goes on; it can confirm it later."""


class SessionAdjuster(ManagerPart):
    """Changes the model or the mode of sessions, from now on and for all later turns."""

    @acts("change the model of")
    def model(self, ref: str, name: str) -> Adjustment:
        """Change the model of a session.

        Raises:
            UsageError: the name cannot be that of a model, or the session uses none.
            SessionBusyError: the session runs on another host.
        """
        session, agent = self._adjustable(ref)
        return self._adjust(session, agent, "model", *_checked_model(name))

    @acts("change the mode of")
    def mode(self, ref: str, mode: str) -> Adjustment:
        """Change the setting for what the agent may do on its own: its sandbox or its permission mode.

        Raises:
            UsageError: the agent has no such mode, or a session changes its own.
            SessionBusyError: the session runs on another host.
        """
        session, agent = self._adjustable(ref)
        return self._adjust(session, agent, "mode", *self._checked_mode(session, agent, mode))

    @acts("change the settings of")
    def change(self, ref: str, *, mode: str | None = None, model: str | None = None) -> list[Adjustment]:
        """Change the mode and the model of a session, each if it is given; both are checked before one is changed.

        Raises the errors of :meth:`mode` and :meth:`model`.
        """
        session, agent = self._adjustable(ref)
        checked: list[tuple[Setting, tuple[str, Mapping[str, Any]]]] = []
        if mode is not None:
            checked.append(("mode", self._checked_mode(session, agent, mode)))
        if model is not None:
            checked.append(("model", _checked_model(model)))
        return [self._adjust(session, agent, what, *values) for what, values in checked]

    def _checked_mode(self, session: Session, agent: Agent, mode: str) -> tuple[str, Mapping[str, Any]]:
        """Return a mode that the caller may give the session, and the settings that choose it."""
        modes = agent.modes
        if modes is None:
            raise UsageError(f"{agent.title} has no permission modes.")
        if mode not in modes.names:
            raise UsageError(f"{agent.title} has no mode {mode!r}. It has: {', '.join(modes.names)}.")
        if self.inside == session.id:
            raise UsageError("A session cannot change its own mode.")
        asked = TurnMode(setting=modes.key, permissions=mode, dangerous=mode in modes.dangerous)
        self.rights.check_mode(session.agent, asked)
        states_settings = self.rights.states_settings
        check_reach(
            agent, asked, session.cwd, self._layout.home, self._reader.settings.path, states_settings=states_settings
        )
        return mode, modes.options(mode)

    def _adjustable(self, ref: str) -> tuple[Session, Agent]:
        self._layout.check_writable()
        session = self._housekeeping.settled(ref)
        agent = agent_named(session.agent)
        if not agent.prompted:
            raise UsageError(f"Session {session.short_id} is a {session.agent} and uses no model.")
        check_here(session, "change it")
        return session, agent

    def _adjust(
        self, session: Session, agent: Agent, what: Setting, value: str, options: Mapping[str, Any]
    ) -> Adjustment:
        recipe = self._store.recipe(session.id)
        config = self._reader.settings.in_folder(session.cwd, recorded_profile(recipe.env), later=True).config
        before = config.settings_for(session.agent, recipe.options)
        mode = self._store.newest_turn(session.id).mode
        # The agent may report an alias by its whole name, after the prompt was requested.
        usual_models = {None, session.model, requested_model(recipe.options, mode), mode.model if mode else None}
        keys = [key for key in options if key != "model"]

        def changed_mode(plan: TurnPlan) -> TurnPlan:
            return with_mode(plan, options, value, dangerous=agent.is_dangerous(value))

        def planned(plan: TurnPlan) -> TurnPlan:
            """Return the plan with the change, unless its prompt was requested with a setting of its own."""
            if what == "model":
                return structs.replace(plan, model=value) if plan.model in usual_models else plan
            if any(plan.settings.get(key) != getattr(before, key) for key in keys):
                return plan
            return changed_mode(plan)

        def relaunched(recorded: Launch) -> Launch:
            """Return the first start of a session that waits for another one, with the change."""
            plan = plan_like(recorded)
            plan = with_model(plan, value) if what == "model" else changed_mode(plan)
            return launch_of(
                plan, agent, prompt=session.task, cwd=session.cwd, session_id=session.id, turn=session.turn,
                agent_session=None,
            )  # fmt: skip

        asked = self._store.adjustments.request(
            session.id, what, value, options=options, asked_by=self.asker, planned=planned, relaunched=relaunched,
            counts_from=agent.live.adjusts_from if agent.live is not None else "turn",
        )  # fmt: skip
        folder = self._layout.session(session.id)
        if folder.path.is_dir():
            self._housekeeping.record(folder)
        if asked.is_pending:
            if not poke(folder.poke):
                self._housekeeping.settle()  # a new runner adopts the agent, and writes the change
            settle = self._housekeeping.settle
            wait_until(self._store, lambda: not self._known(asked.id).is_pending, ANSWER_SECONDS, settle=settle)
        return self._known(asked.id)

    def _known(self, adjustment_id: int) -> Adjustment:
        found = self._store.adjustments.one(adjustment_id)
        if found is None:
            raise UnknownSessionError("The session was deleted.")
        return found


def _checked_model(name: str) -> tuple[str, Mapping[str, Any]]:
    """Return the name of a model, and the setting that chooses it."""
    name = checked_text(name, "model").strip()
    if not is_model(name):
        raise UsageError(f"{name[:LONGEST_MODEL]!r} is not a valid name of a model.")
    return name, {"model": name}
