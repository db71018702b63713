"""The queue: the prompts of a session that wait, and the sessions that wait for the end of another one."""

from collections.abc import Sequence

from agentdash.sessions.model.errors import SessionBusyError, UnknownSessionError, UsageError
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.runner.queue.chains import last_message, release
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.runner.queue.pump import pump
from agentdash.sessions.service.families.rights import acts
from agentdash.sessions.service.lifecycle.starts.launch_plan import checked_prompt
from agentdash.sessions.service.lifecycle.starts.limit_checks import check_affordable
from agentdash.sessions.service.managing.housekeeping import ManagerPart, Shared
from agentdash.sessions.service.prompts.prompter import Prompter, PromptOptions, Sent
from agentdash.sessions.storage.prompts.chains import Waiting
from agentdash.sessions.storage.prompts.new_turn import limits_now
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt, Unconfirmed

SHORTEST_KEY = 4
"""The fewest characters of a key that name a prompt."""


class SessionQueue(ManagerPart):
    """The queue of each session.

    A waiting prompt is named by its position (1 is the next) or by the beginning of its key, which does not change if
    others come and go.  A change of one that was sent or cancelled first is a ``SessionBusyError``.
    """

    def __init__(self, shared: Shared, prompter: Prompter) -> None:
        super().__init__(shared)
        self._prompter = prompter
        self._build = builder(shared.layout, shared.store)

    def prompts(self, ref: str) -> list[QueuedPrompt]:
        """Return the prompts that wait, in the order in which they will be sent."""
        return self._store.queue.waiting(self._reader.get(ref).id)

    def named(self, ref: str, name: str) -> QueuedPrompt:
        """Return the waiting prompt with a position, or with a key that begins so.

        Raises:
            UsageError: there is none, or there are several.
        """
        session = self._reader.get(ref)
        waiting = self._store.queue.waiting(session.id)
        if name.isdecimal() and len(name) < SHORTEST_KEY:
            found = waiting[int(name) - 1 : int(name)] if int(name) else []
        else:
            found = [prompt for prompt in waiting if len(name) >= SHORTEST_KEY and prompt.key.startswith(name)]
        if len(found) != 1:
            number = f"Its queue has {len(waiting)}." if waiting else "Its queue is empty."
            what = "several queued prompts" if len(found) > 1 else "no queued prompt"
            raise UsageError(f"Session {session.short_id} has {what} {name}. {number}")
        return found[0]

    @acts("change the queue of")
    def edit(
        self, prompt: QueuedPrompt, text: str, options: PromptOptions | None = None, *, due_at: int | None = None
    ) -> Sent:
        """Replace the text of a waiting prompt, and its settings or its time (UTC ms) if they are given.

        Raises:
            UsageError: the text is empty, an option is not valid, or the prompt asks for a compaction.
        """
        checked_prompt(text)
        self._layout.check_writable()
        if prompt.plan.terms.compacts is not None:
            raise UsageError("A compaction cannot be edited. Cancel it, and ask for another one: agentdash compact.")
        text = self._prompter.worded(self._reader.by_id(prompt.session), text, options or PromptOptions())
        plan = None
        if options is not None:
            plan = self._prompter.plan(self._reader.by_id(prompt.session), text, options)
        self._check(prompt, self._store.queue.edit(prompt.id, text, plan, due_at), "edited")
        return self._recorded(prompt)

    @acts("change the queue of")
    def move(self, prompt: QueuedPrompt, position: int) -> Sent:
        """Move a waiting prompt to a position; 1 is the next.

        Raises:
            UsageError: the position is not at least 1.
        """
        if position < 1:
            raise UsageError(f"Position {position} does not exist: the next prompt is 1.")
        self._layout.check_writable()
        self._check(prompt, self._store.queue.move(prompt.id, position), "moved")
        return self._recorded(prompt)

    @acts("change the queue of")
    def cancel(self, prompt: QueuedPrompt) -> Sent:
        """Cancel a waiting prompt."""
        self._layout.check_writable()
        self._check(prompt, self._store.queue.cancel(prompt.id), "cancelled")
        return self._recorded(prompt)

    @acts("change the queue of")
    def send_now(self, prompt: QueuedPrompt) -> Sent:
        """Send a waiting prompt before all others, although the queue is held: at once if the session is free.

        Raises:
            SessionBusyError: it was sent or cancelled first, the session runs on another host, or processes of a lost
                turn still live, or the session has used up one of its limits.
        """
        self._layout.check_writable()
        session = self._reader.by_id(prompt.session)
        self._prompter.check_reachable(session)
        self._check_limits(session, [prompt])
        self._store.queue.send_now(prompt.id, self._build)
        sent = self._recorded(prompt)
        if sent.prompt.state == PromptState.CANCELLED:
            self._check(prompt, False, "sent")
        return sent

    @acts("hold")
    def hold(self, ref: str) -> Session:
        """Hold the queue of a session: nothing of it is sent until it is released."""
        self._layout.check_writable()
        session = self._reader.get(ref)
        self._store.queue.hold(session.id)
        self._prompter.serve(session.id)
        return self._reader.by_id(session.id)

    @acts("release")
    def release(self, ref: str) -> Session:
        """Release the queue of a session; if the session is free, its next turn begins.

        Raises:
            SessionBusyError: the session runs on another host, processes of a lost turn still live, or it has used up
                one of its limits.
        """
        self._layout.check_writable()
        session = self._reader.get(ref)
        self._prompter.check_reachable(session)
        self._check_limits(session, self._reader.queued(session.id)[:1])
        self._store.queue.release(session.id, self._build)
        self._prompter.serve(session.id)
        return self._reader.by_id(session.id)

    def _check_limits(self, session: Session, prompts: Sequence[QueuedPrompt]) -> None:
        """Refuse to begin a turn with a prompt if the session has used up a limit: the prompt stays in the queue."""
        if not session.status.ended:
            return
        options = self._store.recipe(session.id).options
        for prompt in prompts:
            limits = limits_now(options, prompt.plan.terms.limits)
            check_affordable(session, lambda: self._store.turns(session.id), limits, "inject")

    def first_unconfirmed(self, ref: str, turn: int) -> Unconfirmed:
        """Return the first unconfirmed prompt of a turn.

        Raises:
            UsageError: no prompt of this turn is unconfirmed.
        """
        session = self._reader.get(ref)
        found = next((one for one in self._reader.unconfirmed(session.id) if one.turn == turn), None)
        if found is None:
            raise _not_unconfirmed(session, turn)
        return found

    @acts("prompt")
    def resend(self, prompt: Unconfirmed) -> Sent:
        """Send an unconfirmed prompt again.

        Raises:
            UsageError: it is not unconfirmed; other prompts of its turn are left as they are.
            SessionBusyError: the session has used up one of its limits, runs on another host, or has processes of a
                lost turn; or the prompt was sent again or dismissed before.
        """
        return self._prompter.resend(self._checked_unconfirmed(prompt), prompt)

    @acts("change the queue of")
    def dismiss(self, prompt: Unconfirmed) -> Session:
        """Leave an unconfirmed prompt as it is: it is not sent again.

        Raises:
            UsageError: it is not unconfirmed; other prompts of its turn are left as they are.
        """
        session = self._checked_unconfirmed(prompt)
        self._store.queue.dismiss(prompt)
        self._prompter.serve(session.id)
        return self._reader.by_id(session.id)

    def _checked_unconfirmed(self, prompt: Unconfirmed) -> Session:
        """Return the session of a prompt that is still unconfirmed."""
        self._layout.check_writable()
        session = self._reader.get(prompt.session)
        known = [(one.turn, one.steered) for one in self._reader.unconfirmed(session.id)]
        if (prompt.turn, prompt.steered) not in known:
            raise _not_unconfirmed(session, prompt.turn)
        return session

    def _recorded(self, prompt: QueuedPrompt) -> Sent:
        self._prompter.serve(prompt.session)
        return self._prompter.sent(prompt.id)

    def _check(self, prompt: QueuedPrompt, done: bool, verb: str) -> None:
        """Raise the error of a change that came too late."""
        if done:
            return
        now = self._store.queue.prompt(prompt.id)
        if now is None:
            fate = "its session was deleted"
        elif now.state == PromptState.UNCONFIRMED:
            fate = f"it is unconfirmed: send it again, or dismiss it (turn {now.turn})"
        elif now.turn is not None and now.state != "taken":
            fate = f"it was written into turn {now.turn}"
        elif now.turn is not None:
            fate = f"it was sent as turn {now.turn}"
        else:
            fate = f"it was {now.state}"
        raise SessionBusyError(f"Not {verb}: {fate}.")


def _not_unconfirmed(session: Session, turn: int) -> UsageError:
    return UsageError(f"The prompt of turn {turn} of session {session.short_id} is not unconfirmed.")


class SessionChains(ManagerPart):
    """The decisions of the user about sessions that wait; a stop cancels them as it cancels any queued session."""

    @acts("start")
    def start(self, ref: str, *, answer: bool = True) -> Session:
        """Start a session that waits for a time, or for another one, whatever became of that.

        Args:
            answer: give it the last message of the other session's newest turn, if there is one.

        Raises:
            SessionBusyError: it does not wait for another one.
            RefusalError: a limit or a budget of its lead forbids it now.
            StoreError: the answer cannot be read.
        """
        self._layout.check_writable()
        session = self._reader.get(ref, destructive=True)
        while not self._store.timed.start_now(session.id):
            waiting = self._store.chains.one(session.id)
            if waiting is None:
                status = self._reader.by_id(session.id).status
                raise SessionBusyError(
                    f"Session {session.short_id} waits for no time and no other session: it is {status}."
                )
            if release(self._layout, self._store, waiting, self._answer_before(waiting) if answer else None):
                break
        pump(self._layout, self._store)
        return self._reader.by_id(session.id)

    @acts("change")
    def wait_for(self, ref: str, other: str) -> Session:
        """Make a session that waits wait for another one instead; it starts at once if that one is done.

        Raises:
            SessionBusyError: it does not wait for another one.
            UsageError: the other one is the session itself, or waits for it.
        """
        self._layout.check_writable()
        session = self._reader.get(ref, destructive=True)
        self._store.chains.wait_for(session.id, self._reader.get(other).id)
        pump(self._layout, self._store)
        return self._reader.by_id(session.id)

    def _answer_before(self, waiting: Waiting) -> str | None:
        if waiting.before.status is None:
            return None
        try:
            return last_message(self._layout, self._store, waiting.before.id)
        except UnknownSessionError:
            return None  # deleted meanwhile
