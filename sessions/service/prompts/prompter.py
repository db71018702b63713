"""Prompts of sessions: sending, queueing, retrying, interrupting.

A prompt is never refused because its agent is at work: it waits in the session's queue, and the transaction that ends
a turn makes it the next one.
"""

import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct, field, structs, to_builtins

from agentdash.sessions.agents.capabilities import Allowance
from agentdash.sessions.agents.planned import launch_of
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model import typed
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.compaction import Compaction
from agentdash.sessions.model.errors import ConfigError, Remedy, SessionBusyError, UnknownSessionError, UsageError
from agentdash.sessions.model.session import Receipt, Session, Status
from agentdash.sessions.rules.launch import Start, TurnPlan, requested_model
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.rules.prompts.due import until
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.runner.queue.pump import pump
from agentdash.sessions.runner.runner_process import poke
from agentdash.sessions.service.families.rights import acts
from agentdash.sessions.service.lifecycle.recovery.reconcile import survivors
from agentdash.sessions.service.lifecycle.session_ref import at_work_error, check_free
from agentdash.sessions.service.lifecycle.starts.launch_plan import (
    LaterTurn,
    checked_prompt,
    plan_turn,
    recorded_profile,
    session_folder,
)
from agentdash.sessions.service.lifecycle.starts.limit_checks import check_affordable
from agentdash.sessions.service.lifecycle.starts.own_folders import check_reach
from agentdash.sessions.service.managing.housekeeping import ManagerPart, Shared, keep_settings
from agentdash.sessions.service.prompts.attaching import attached, has_images
from agentdash.sessions.settings.config import Loaded
from agentdash.sessions.settings.toml_keys import merged
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt, Request, Unconfirmed, resend_key
from agentdash.sessions.storage.queries import Recipe

ENDING_SECONDS = 15.0
"""Longest wait for the process of a failed turn to be gone; its runner kills it after ten."""


class Sent(Struct, frozen=True, kw_only=True):
    """A prompt that was accepted, and its place."""

    session: Session
    prompt: QueuedPrompt
    position: int | None = None
    """Its place in the queue, 1 for the next; None if it is a turn already."""

    @property
    def turn(self) -> int | None:
        """The turn that it became; None while it waits."""
        return self.prompt.turn

    @property
    def answer(self) -> str:
        """Its place in words, one line: ``turn 4`` or ``queued #2, after turn 3`` or ``queued until Sat 18:00``."""
        if self.prompt.state == "taken":
            return f"turn {self.turn}"
        return self._waits if self.prompt.state == "queued" else self._steers

    @property
    def _waits(self) -> str:
        """The event or the time for which it waits in the queue."""
        held = f", held: {self.session.held}" if self.session.held and not self.prompt.at_once else ""
        if self.prompt.due_at is not None:
            return f"queued {until(self.prompt.due_at, now_ms())}{held}"
        if held:
            return f"queued #{self.position}{held}"
        if self.session.taken_by is not None:
            return f"queued #{self.position}, sent when {self.session.taken_by.holder} closes the agent's own interface"
        return self._steers

    @property
    def _steers(self) -> str:
        """The turn that it steers, or the one behind which it waits."""
        if self.prompt.steers and self.session.status is Status.QUEUED:
            return f"queued #{self.position}, steers turn {self.session.turn} when it runs"
        if self.prompt.steers:
            return f"steers turn {self.turn or self.session.turn}: the agent reads it at its next step"
        return f"queued #{self.position}, after turn {self.session.turn}"


class PromptOptions(Struct, frozen=True, kw_only=True):
    """The ways in which a turn may differ from the session's own settings, and its place in the queue."""

    limits: Mapping[str, Any] = field(default_factory=dict)
    """Limits that replace the session's from now on."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the agent's own section for this turn alone: its mode, extra arguments."""
    model: str | None = None
    """The model from this turn on; None for the session's."""
    instructions: str | None = None
    """Instructions that replace the session's from now on."""
    key: str = ""
    """A name of the request: the same name sends nothing twice.  Empty for a new one."""
    first: bool = False
    """It goes before the prompts that wait."""
    at_once: bool = False
    """It is sent as soon as the session is free, although its queue is held."""
    over_budget: bool = False
    """The user sends it although the budget of a day or a week is spent."""
    due_at: int | None = None
    """It waits until this time (UTC ms); None for no time."""
    images: tuple[str, ...] = ()
    """The paths of images to add to it; the user's own words may name others as ``@shot.png``."""
    compacts: Compaction | None = None
    """The turn compacts the conversation, and the prompt only names that; None for an ordinary prompt."""
    steer: bool = True
    """A live agent may read it in its running turn, unless it changes settings, which only a turn can have."""

    @property
    def may_steer(self) -> bool:
        """True if a live agent may read it in its running turn."""
        own_turn = self.settings or self.model or self.limits or self.instructions is not None or self.compacts
        return self.steer and not own_turn


class Prompter(ManagerPart):
    """Sends prompts to sessions.

    Args:
        stop: stops a turn of a session, and returns the receipt.
    """

    def __init__(self, shared: Shared, stop: Callable[[str, int], Receipt]) -> None:
        super().__init__(shared)
        self._stop = stop
        self._build = builder(shared.layout, shared.store)

    @acts("prompt")
    def inject(self, ref: str, prompt: str, options: PromptOptions | None = None) -> Sent:
        """Send a prompt to a session: its next turn, or a place in its queue.

        Raises:
            UsageError: empty prompt, an option that the agent does not take, or a limit that can never act.
            SessionBusyError: it takes no prompts, runs on another host, has used up one of its limits, or processes of
                a lost turn still live.
        """
        checked_prompt(prompt)
        self._layout.check_writable()
        session, options = self._housekeeping.settled(ref), options or PromptOptions()
        self._let_go(session)
        if agent_named(session.agent).conversations is None:
            again = f"Run it again: agentdash retry {session.short_id}" if session.status.ended else ""
            raise SessionBusyError(
                f"Session {session.short_id} is a {session.agent} and takes no prompts.",
                Remedy.RETRY if again else None,
                again,
            )
        if options.compacts is not None:
            return self._add(session, prompt, options, "inject")
        return self._add(session, self.worded(session, prompt, options), options, "inject")

    @acts("retry")
    def retry(self, ref: str, options: PromptOptions | None = None, *, allow_denied: bool = False) -> Sent:
        """Send the newest prompt again, after a turn that failed, was stopped, was lost, or was denied something.

        A command runs again however it ended, because it cannot be continued.

        Args:
            allow_denied: allows what the turn was denied (:meth:`allowance`).

        Raises:
            UsageError: a limit that can never act, or nothing was denied that a setting allows.
            SessionBusyError: the turn is running, an agent completed it and was denied nothing, or the session has used
                up one of its limits.
        """
        self._layout.check_writable()
        session = self._housekeeping.settled(ref)
        if not session.status.ended:  # the turn may still succeed
            raise at_work_error(session, f"turn {session.turn} can be retried when it has ended")
        check_free(session, "retried")
        self._let_go(session)
        options = options or PromptOptions()
        if allow_denied:
            allowance = self.allowance(session)
            if allowance is None:
                raise UsageError(f"Session {session.short_id} was denied nothing that a setting allows.")
            options = structs.replace(options, settings=merged(allowance.options, options.settings))
        changed = bool(options.settings or options.model)
        if session.status is Status.DONE and agent_named(session.agent).conversations is not None and not changed:
            raise SessionBusyError(
                f"Session {session.short_id} is done: nothing to retry.",
                Remedy.PROMPT,
                f"Send a prompt: agentdash inject {session.short_id}",
            )
        waiting = self._store.queue.waiting_again(session.id, session.turn)
        if waiting is not None:
            return self._send_waiting(session, waiting, options)
        prompts = self._store.prompts(session.id)
        if not prompts:
            raise UnknownSessionError(f"Session {session.short_id} was deleted.")
        again = prompts[-1]
        key = resend_key(again.turn) if again.state == PromptState.UNCONFIRMED else options.key
        options = structs.replace(options, at_once=True, key=key, compacts=self._compacted(session, again.turn))
        return self._add(session, again.text, options, "retry", only_after=session.turn, resends=again.turn)

    @acts("prompt")
    def resend(self, session: Session, prompt: Unconfirmed) -> Sent:
        """Send an unconfirmed prompt of any turn again, before those that wait.

        Raises:
            SessionBusyError: as for :meth:`inject`, or it was sent again or dismissed before.
        """
        compacts = self._compacted(session, prompt.turn) if prompt.steered is None else None
        options = PromptOptions(first=True, key=resend_key(prompt.turn, prompt.steered), compacts=compacts)
        return self._add(session, prompt.text, options, "inject", resends=prompt.turn, steered=prompt.steered)

    def _send_waiting(self, session: Session, waiting: QueuedPrompt, options: PromptOptions) -> Sent:
        """Send the prompt of the newest turn that waits again: a copy of it would be sent twice."""
        self.check_reachable(session)
        options = structs.replace(options, compacts=waiting.plan.terms.compacts)
        plan = self.plan(session, waiting.text, options, verb="retry")
        self._store.queue.edit(waiting.id, waiting.text, plan)
        self._store.queue.send_now(waiting.id, self._build)
        self.serve(session.id)
        return self.sent(waiting.id)

    def _compacted(self, session: Session, turn: int) -> Compaction | None:
        """Return the compaction that a turn was to make; None if it answered a prompt."""
        launch = self._store.launch(session.id, turn)
        return launch.compacts if launch is not None else None

    def allowance(self, session: Session) -> Allowance | None:
        """Return the change of settings that would have allowed what the newest turn was denied; None if none would."""
        names = session.denied_names
        if not session.denied or not names:
            return None
        recipe, mode = self._store.recipe(session.id), self._store.newest_turn(session.id).mode
        settings = self._settings_of(session, recipe.env).config.settings_for(session.agent, recipe.options)
        if mode is not None and mode.setting is not None and mode.permissions is not None:
            with suppress(msgspec.ValidationError):  # the agent may not know the permissions that the turn had
                settings = typed.convert({**to_builtins(settings), mode.setting: mode.permissions}, type(settings))
        modes = agent_named(session.agent).modes
        return modes.allowance(settings, names) if modes is not None and modes.allowance is not None else None

    @acts("interrupt")
    def interrupt(
        self, ref: str, say: str | None = None, options: PromptOptions | None = None
    ) -> tuple[Receipt, Sent | None]:
        """Interrupt the running turn without ending the session; ``say`` is the prompt that follows it at once.

        Its other prompts are held until they are released.  A live agent keeps its process; others end it on the
        ladder of a stop, and resume the conversation with the next prompt.

        Raises:
            SessionBusyError: no turn is running.
        """
        self._layout.check_writable()
        session = self._housekeeping.settled(ref)
        if session.status.ended:
            raise SessionBusyError(
                f"Session {session.short_id} is {session.status}: nothing to interrupt.",
                Remedy.PROMPT,
                f"Send a prompt: agentdash inject {session.short_id}",
            )
        sent = None
        if say is not None:
            # Recorded first: a front end that dies between the two loses nothing.
            at_once = structs.replace(options or PromptOptions(), at_once=True, steer=False)
            sent = self._add(session, self.worded(session, checked_prompt(say), at_once), at_once, "inject")
        receipt = self._stop(session.id, session.turn)
        if sent is not None:
            # A turn that no runner had taken was cancelled by us: no runner sends what follows it.
            self._store.queue.advance(session.id, self._build)
            self.serve(session.id)
            sent = self.sent(sent.prompt.id)
        return receipt, sent

    def worded(self, session: Session, prompt: str, options: PromptOptions) -> str:
        """Return a prompt as its agent gets it: foreign words inert, and a mark for each image.

        Raises:
            UsageError: the agent takes no images, or a file of one cannot be used.
        """
        text, agent = self.rights.prompt(prompt, session.agent), agent_named(session.agent)
        by_user = not self.rights.is_agent
        if not has_images(text, options.images, by_user=by_user):
            return text
        plan, folder = self.plan(session, text, options), self._layout.session(session.id)
        launch = launch_of(
            plan, agent, prompt=text, cwd=session.cwd, session_id=session.id, turn=session.turn + 1,
            agent_session=session.agent_session,
        )  # fmt: skip
        return attached(agent, launch.transport, folder, text, options.images, session.cwd, by_user=by_user)

    def plan(
        self, session: Session, text: str, options: PromptOptions, *, verb: str = "inject", recipe: Recipe | None = None
    ) -> TurnPlan:
        """Return the settings of a turn as they are now; ``recipe`` is the session's own, if it was read.

        Raises:
            UsageError: an option that the agent does not take, or a limit that can never act.
            SessionBusyError: the session has used up one of its limits.
        """
        recipe = recipe or self._store.recipe(session.id)
        kept = _kept(recipe, options)
        settings, before = self._settings_of(session, recipe.env), self._store.newest_turn(session.id).mode
        start = Start(
            text, agent=session.agent, model=options.model or requested_model(kept, before),
            cwd=session_folder(session), options=merged(kept, options.settings), argv=recipe.command,
            session_id=session.id, led=session.parent is not None or session.lead is not None,
        )  # fmt: skip
        later = LaterTurn(
            turn=session.turn + 1, agent_session=session.agent_session, limits=options.limits, env=recipe.env,
            mode=before, options={*options.settings, *({"instructions"} & kept.keys())},
        )  # fmt: skip
        plan, _ = plan_turn(settings.config, start, later=later, notes=settings.notes)
        mode = plan.terms.mode
        self.rights.check_mode(session.agent, mode, options.settings)
        if before is not None and mode is not None and mode.permissions != before.permissions:
            home, path, own = self._layout.home, self._reader.settings.path, self.rights.states_settings
            check_reach(agent_named(session.agent), mode, session.cwd, home, path, states_settings=own)
        check_affordable(session, lambda: self._store.turns(session.id), plan.terms.limits, verb)
        return plan.on(compacts=options.compacts)

    def sent(self, prompt_id: int) -> Sent:
        """Return a prompt and its present place.

        Raises:
            UnknownSessionError: its session was deleted.
        """
        prompt = self._store.queue.prompt(prompt_id)
        if prompt is None:
            raise UnknownSessionError("The session was deleted.")
        waiting = [other.id for other in self._store.queue.waiting(prompt.session)]
        position = waiting.index(prompt_id) + 1 if prompt_id in waiting else None
        return Sent(session=self._reader.by_id(prompt.session), prompt=prompt, position=position)

    def _add(
        self,
        session: Session,
        prompt: str,
        options: PromptOptions,
        verb: str,
        *,
        only_after: int | None = None,
        resends: int | None = None,
        steered: int | None = None,
    ) -> Sent:
        self.check_reachable(session)
        folder = self._layout.session(session.id)
        if not folder.path.is_dir():
            folder.create()  # the folder was removed: its output is lost, the conversation is the agent's own
        recipe = self._store.recipe(session.id)
        kept = _kept(recipe, options)
        plan = self.plan(session, prompt, options, verb=verb, recipe=recipe)
        newest = self._store.newest_turn(session.id)
        reads_more = newest.transport and not newest.compacts
        if options.over_budget:
            self.rights.check_no_agent("A prompt beyond a budget")
        if self.rights.states_settings:
            keep_settings(self._store, self._reader.settings.config())
        added = self._store.queue.add(
            Request(
                session=session.id,
                key=options.key or str(uuid.uuid4()),
                text=prompt,
                plan=plan,
                asked_by=self.inside,
                first=options.first,
                at_once=options.at_once,
                steers=options.may_steer and bool(reads_more),
                options=kept if kept != recipe.options else None,
                only_after=only_after,
                over_budget=options.over_budget,
                due_at=options.due_at,
                resends=resends,
                steered=steered,
            ),
            self._build,
        )
        self.serve(session.id)
        return self.sent(added.id)

    def _let_go(self, session: Session) -> None:
        """Wait until the runner of a failed turn is gone: the agent may lack what the environment of now has."""
        folder = self._layout.session(session.id)
        if session.status is Status.FAILED and not session.left and session.host == processes.host_name():
            with suppress(FileNotFoundError):
                if (lock := runner_lock.hold(folder.lock, ENDING_SECONDS)) is not None:
                    lock.release()

    def serve(self, session_id: str) -> None:
        """Record the session, and send runners for the turns that may begin."""
        folder = self._layout.session(session_id)
        self._housekeeping.record(folder)
        # A runner that is left only to supervise remaining processes makes room for the next one.
        poke(folder.poke)
        pump(self._layout, self._store)

    def _settings_of(self, session: Session, env: Mapping[str, str | None]) -> Loaded:
        """Return the settings in the session's folder, under the profile with which the session began."""
        profile = recorded_profile(env)
        try:
            return self._reader.settings.in_folder(session.cwd, profile, later=True)
        except ConfigError as error:
            began = f" Session {session.short_id} uses the profile {profile!r}." if profile else ""
            raise ConfigError(f"{error}{began}") from None

    def check_reachable(self, session: Session) -> None:
        """Refuse a prompt to a session of another host, or to one whose lost turn has left processes.

        Raises:
            SessionBusyError: it is one of them.
        """
        short = session.short_id
        if session.host != processes.host_name():
            raise SessionBusyError(
                f"Session {short} runs on {session.host}; send the prompt there.",
                Remedy.CONTINUE,
                f"Continue it here in a new session: agentdash continue {short}",
            )
        if session.status is Status.LOST and survivors(self._layout, self._store.newest_turn(session.id)):
            raise SessionBusyError(
                f"Processes of the lost turn of session {short} are still running.",
                Remedy.STOP,
                f"Stop them: agentdash stop {short}",
            )


def _kept(recipe: Recipe, asked: PromptOptions) -> dict[str, Any]:
    """Return the session's options from now on: limits, instructions and the model stay, others are for one turn."""
    options = dict(recipe.options)
    if asked.model is not None and "model" in options:
        options["model"] = asked.model
    if asked.limits:
        options = merged(options, {"limits": asked.limits})
    if asked.instructions is not None:
        options = merged(options, {"instructions": asked.instructions})
    return options
