"""Prompts on their way to sessions: sent one at a time, and given back if a session does not accept its prompt."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.prompts.prompter import PromptOptions
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt
from agentdash.tui.keys.availability import ActionTarget, can_interrupt, can_prompt
from agentdash.tui.panes.session_pane import ChosenMode, NextModes, SessionPane
from agentdash.tui.services.actions.prompt_tools import PromptHelp
from agentdash.tui.services.actions.session_actions import SessionActions
from agentdash.tui.texts import prompt_texts
from agentdash.tui.texts import screen_texts as texts
from agentdash.widgets.inputs.prompt_box import PromptBox


class PromptSender:
    """Sends the texts of prompt boxes, and last prompts again.

    ``changed`` shows the labels of the prompt boxes again.
    """

    def __init__(self, operations: SessionActions, changed: Callable[[], None]) -> None:
        self._operations = operations
        self._changed = changed
        self._sending = asyncio.Lock()
        self._modes = NextModes()
        self._edited: dict[str, tuple[int, QueuedPrompt]] = {}
        """The queued prompts in the prompt boxes and their positions, by session."""
        self._came_from: dict[str, Callable[[], object]] = {}
        """The calls that go back to the place from which an edit began, by session."""

    def effect(self, target: ActionTarget, answer_key: str) -> str:
        """Return what sending a prompt will do; ``answer_key`` shows what a session asks."""
        chosen, operations = target.chosen, self._operations
        if len(chosen) > 1:
            return texts.target_of_several(chosen, sum(map(can_prompt, chosen)), marked=target.marked)
        if operations.read_only:
            return "read-only: prompts cannot be sent"
        if not chosen:
            return operations.starting.missing or texts.new_session(operations.starting.default_agent, str(Path.cwd()))
        edited = self._edited.get(chosen[0].id)
        return prompt_texts.editing(edited[0]) if edited is not None else prompt_texts.target(chosen[0], answer_key)

    def hint(self, target: ActionTarget, interrupt_key: str) -> str:
        """Return the hint in an empty prompt box; empty if none of the sessions takes a prompt."""
        chosen = target.chosen
        if len(chosen) > 1:
            return prompt_texts.FOR_ALL if any(map(can_prompt, chosen)) else ""
        return prompt_texts.prompt_hint(chosen[0] if chosen else None, interrupt_key)

    def mode(self, target: ActionTarget) -> ChosenMode | None:
        """Return the permission mode that the user chose for the next prompt; None for the usual one."""
        return self._modes.of(target.chosen[0].id) if len(target.chosen) == 1 else None

    async def next_mode(self, target: ActionTarget) -> None:
        """Choose the next permission mode of the session's agent for the next prompt."""
        session = target.chosen[0] if len(target.chosen) == 1 else None
        agent = next((one for one in self._operations.starting.agents if session and one.name == session.agent), None)
        if session is None or agent is None or not agent.modes:
            self._operations.desk.requests.show_refusal(prompt_texts.no_modes(session))
            return
        options = await self._operations.prompts.usual_options(session.id)
        self._modes.go_on(session.id, agent, agent.choice_of(options))
        self._changed()

    def send(
        self, text: str, target: ActionTarget, pane: SessionPane, *, interrupts: bool
    ) -> Coroutine[Any, Any, None]:
        """Return what sends a text to the chosen sessions, or to a new one.

        Args:
            pane: the pane of the current session.
            interrupts: interrupt the turn that is running, and send the text in its place.
        """
        current = target.current
        edited = self._edited.get(current.id) if current is not None else None
        if current is not None and edited is not None:
            return self._save(text, current, edited[1], pane)
        return self._send(text, target, pane, interrupts=interrupts)

    async def _send(self, text: str, target: ActionTarget, pane: SessionPane, *, interrupts: bool) -> None:
        current = target.current
        drafted = current.id if current is not None else None
        drafts = self._operations.desk.drafts
        drafts.hold(drafted)
        try:
            sent = await self._sent(text, target, interrupts=interrupts)
            if not sent:
                pane.prompt.give_back(drafted, text)
        finally:
            drafts.release(drafted)
        if sent:
            pane.prompt.accepted(text)
            if current is None or pane.viewer.session_id in (None, current.id):  # the user may have gone on meanwhile
                pane.steps.following = True

    async def _sent(self, text: str, target: ActionTarget, *, interrupts: bool) -> bool:
        chosen, current = target.chosen, target.current
        async with self._sending:  # one at a time: the second text may be for the session that the first one starts
            if len(chosen) > 1:
                return await self._operations.broadcasts.send(chosen, text)
            return await self._send_one(chosen[0] if chosen else current, text, interrupts=interrupts)

    async def _send_one(self, session: Session | None, text: str, *, interrupts: bool) -> bool:
        if session is None:
            return await self._operations.starting.start(text, str(Path.cwd()))
        mode = self._modes.of(session.id)
        options = PromptOptions(settings=mode.settings) if mode is not None else None
        prompts = self._operations.prompts
        act = prompts.say_instead if interrupts and can_interrupt(session) else prompts.send
        sent = await act(session, text, options)
        if sent:
            self._modes.used(session.id)
            self._changed()
        return sent

    async def _save(self, text: str, session: Session, prompt: QueuedPrompt, pane: SessionPane) -> None:
        """Replace a queued prompt; if it was sent first, its new text becomes a draft."""
        with self._operations.desk.app.keys_held():
            saved = await self._operations.prompts.edit(prompt, text)
            if not saved:
                self._came_from.pop(session.id, None)
            self.end_edit(session, pane)
        if not saved:
            pane.prompt.give_back(session.id, text)

    async def edit_last(self, session: Session, pane: SessionPane) -> None:
        """Edit the last queued prompt of a session in its prompt box."""
        waiting = await self._operations.prompts.waiting(session.id)
        if waiting:
            self.edit(session, len(waiting), waiting[-1], pane)

    def show_queue(
        self,
        session: Session,
        pane: SessionPane,
        is_current: Callable[[], bool],
        write: Callable[[], object],
        *,
        clock: Callable[[], int],
        at: QueuedPrompt | None = None,
    ) -> None:
        """Show the queue of a session, to change it; after the edit of a prompt it is shown again.

        Args:
            is_current: returns False if the user went on to another session, whose keys are not for this queue.
            write: gives the keys to the prompt box.
            clock: returns the time in UTC ms.
            at: the prompt that is under the cursor at first; None for the first one.
        """
        if not is_current():
            return
        from agentdash.tui.dialogs.queue import QueueScreen

        def edit(chosen: tuple[int, QueuedPrompt] | None) -> None:
            if chosen is None:
                return
            if self._operations.read_only:
                self._operations.desk.requests.show_refusal("The dashboard is read-only: no edit.")
                return
            again = partial(self.show_queue, session, pane, is_current, write, clock=clock, at=chosen[1])
            self.edit(session, *chosen, pane, again)
            write()

        prompts = self._operations.prompts
        read = partial(prompts.queue_now, session.id)
        self._operations.desk.app.push_screen(QueueScreen(read, prompts.change, clock=clock, at=at), edit)

    def edit(
        self,
        session: Session,
        place: int,
        prompt: QueuedPrompt,
        pane: SessionPane,
        back: Callable[[], object] | None = None,
    ) -> None:
        """Edit a queued prompt, which is at a place of the queue, in the prompt box of its session.

        ``back`` is called after the edit, unless it came too late.
        """
        self._edited[session.id] = place, prompt
        if back is not None:
            self._came_from[session.id] = back
        pane.prompt.begin_edit(session.id, prompt.text)
        self._changed()

    def end_edit(self, session: Session, pane: SessionPane) -> bool:
        """Leave the queued prompt as it is; return False if none is edited."""
        if self._edited.pop(session.id, None) is None:
            return False
        pane.prompt.end_edit(session.id)
        self._changed()
        back = self._came_from.pop(session.id, None)
        if back is not None:
            back()
        return True

    async def retry(self, target: ActionTarget, pane: SessionPane) -> None:
        """Send the last prompt of the chosen sessions again, and follow the answer."""
        if await self._operations.prompts.retry_chosen(target.chosen, target.current):
            pane.steps.following = True

    async def write_from_template(self, target: ActionTarget, pane: SessionPane) -> bool:
        """Let the user choose a template: its text goes into the prompt box, or after a question to several sessions.

        Return whether the prompt box has it.
        """
        chosen, writing = target.chosen, self._operations.writing
        picked = await writing.template(chosen[0].cwd if chosen else str(Path.cwd()))
        if picked is None:
            return False
        if len(chosen) > 1:
            await self._operations.broadcasts.send_template(chosen, picked[0], writing.text_for(*picked))
            return False
        session = chosen[0] if chosen else None
        if session is not None:
            text = await writing.filled_for(*picked, session)
        else:
            text = await writing.filled_for_start(*picked, self.new_start())
        if text is not None:
            # The box is that of the current session, also if it sends to one that is marked.
            pane.prompt.insert(target.current.id if target.current is not None else None, text)
        return text is not None

    def new_start(self) -> Start:
        """Return the start of a prompt without a session."""
        return Start("", agent=self._operations.starting.default_agent, cwd=str(Path.cwd()))

    async def offer_earlier(self, box: PromptBox) -> None:
        """Let the user go through the recent prompts in a box."""
        box.input.earlier.learn(await self._operations.starting.earlier_prompts())


class PromptWays:
    """The ways of prompts to one session, whichever sessions are chosen.

    Args:
        pane: the pane that shows the session below another screen.
        session: returns the session as it is now.
        go_on: goes to the next session that needs the user.
    """

    def __init__(
        self,
        sender: PromptSender,
        operations: SessionActions,
        pane: SessionPane,
        session: Callable[[], Session],
        go_on: Callable[[], None],
    ) -> None:
        self._sender = sender
        self._operations = operations
        self._pane = pane
        self._session = session
        self.drafts = operations.desk.drafts
        self.tools = PromptHelp(operations.writing, lambda: session().cwd, sender.new_start)
        self.go_on = go_on

    @property
    def _target(self) -> ActionTarget:
        session = self._session()
        return ActionTarget(session, [session], read_only=self._operations.read_only)

    def words(self) -> tuple[str, str]:
        """Return the effect of sending, and the hint in an empty box."""
        target = self._target
        answer, interrupt = map(self._operations.desk.keymap.name, ("answer", "prompt.interrupt"))
        return self._sender.effect(target, answer), self._sender.hint(target, interrupt)

    def quoted(self, text: str) -> str:
        """Return a text that an agent wrote so that the session's agent replaces nothing in it."""
        return agent_named(self._session().agent).expands.inert(text, at_first=True)

    def refusal(self) -> str:
        """Return why the session takes no prompt; empty if it does."""
        return self._target.why_not("write_prompt", restore_key=self._operations.desk.keymap.name("undo"))

    def send(self, text: str, *, interrupts: bool) -> None:
        """Send a text; a text that is not accepted becomes the session's draft again."""
        sending = self._sender.send(text, self._target, self._pane, interrupts=interrupts)
        self._operations.desk.app.run_worker(sending, group="send")
