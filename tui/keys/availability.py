"""The conditions of actions: for which sessions each is possible, and which act on several sessions at once.

Footer, palette and keys ask :class:`ActionTarget` for the chosen sessions, so that they give the same answer.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from agentdash.sessions.agents.registry import takes_prompts
from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.attention import asks_you
from agentdash.tui.keys.actions import CONVERSATION_IDS, OPEN_WORKER, REGISTRY, TO_LEAD
from agentdash.tui.texts import family_texts
from agentdash.tui.texts import screen_texts as texts

_ALWAYS = frozenset({
    "new_session", "write_prompt", "template", "help", "quit", "back", "theme", "mouse", "undo", "next_pane",
    "command_line", "log", "settings", "trust", "split", "smaller", "larger", "zoom", "meter", "next_attention",
    "table.next_attention", "table.previous_attention", "usage",
})  # fmt: skip


def can_stop(session: Session) -> bool:
    """Return whether a process of the session may be running."""
    return session.has_process or session.status is Status.LOST


def can_retry(session: Session) -> bool:
    """Return whether the session's last prompt can be sent again."""
    return session.status in (Status.FAILED, Status.STOPPED, Status.LOST)


def has_queue(session: Session) -> bool:
    """Return whether the session has prompts that wait or are unconfirmed, or holds the prompts that come."""
    return session.queued > 0 or session.unconfirmed > 0 or session.held is not None


def can_interrupt(session: Session) -> bool:
    """Return whether the session has a turn that can be interrupted; a command would only be stopped."""
    return not session.status.ended and takes_prompts(session.agent) and session.deleted_at is None


def can_prompt(session: Session) -> bool:
    """Return whether the session takes a prompt: at once, or in its queue; a prompt restores an archived session."""
    return takes_prompts(session.agent) and session.deleted_at is None


def can_take_over(session: Session) -> bool:
    """Return whether the agent's own interface may be opened; the manager gives the reasons that are not seen here."""
    return session.status.ended and session.taken_by is None and takes_prompts(session.agent)


def waits_for_time(session: Session) -> bool:
    """Return whether the session has not begun because it waits for a time."""
    return session.status is Status.QUEUED and session.due_at is not None and not session.queued


_WHEN: dict[str, Callable[[Session], bool]] = {
    "write_prompt": lambda session: takes_prompts(session.agent),
    "template": lambda session: takes_prompts(session.agent),
    "stop": can_stop,
    "kill": can_stop,
    "new_like": lambda session: takes_prompts(session.agent),
    "continue": lambda session: takes_prompts(session.agent) and session.status.ended,
    "archive": lambda session: session.status.ended and session.archived_at is None,
    "interrupt_turn": can_interrupt,
    "mode": lambda session: takes_prompts(session.agent),
    "take_over": can_take_over,
    "answer": asks_you,
    "queue": has_queue,
    TO_LEAD: lambda session: session.parent is not None,
    "start_waiting": lambda session: session.after is not None or waits_for_time(session),
    "wait_for": lambda session: session.after is not None,
    "retry": lambda session: can_retry(session) or (session.status.ended and session.denied > 0),
    "mark_read": lambda session: session.status.ended or not session.all_seen,
    **dict.fromkeys(CONVERSATION_IDS, lambda session: session.status.ended and takes_prompts(session.agent)),
    **dict.fromkeys(("steps.fork", "table.fork"), lambda session: takes_prompts(session.agent)),
}
"""Conditions of actions on the selected session; the other actions take any session."""

_NOT_IN_TRASH = frozenset({
    "new_like", "new_after", "start_waiting", "wait_for", "write_prompt", "template", "stop", "kill", "interrupt_turn",
    "mode",
    "take_over", "retry", "delete", "archive", "rename", "pin", "mark_read", "processes", "beside", *CONVERSATION_IDS,
})  # fmt: skip
"""Actions that a deleted session refuses; it can be read and restored."""

BULK = frozenset({"stop", "kill", "retry", "delete", "archive", "pin", "mark_read", "write_prompt", "template"})
"""Actions on the marked sessions, if there are any, or on a whole group."""


def unlike(sessions: Iterable[Session]) -> list[Session]:
    """Return one session of each kind that :func:`possible` distinguishes: a few of thousands."""
    kinds = {
        (
            one.status,
            one.left > 0,
            one.agent,
            one.archived_at is None,
            one.deleted_at is None,
            one.denied > 0,
            one.warm_since is None,
            one.taken_by is None,
            one.all_seen,
        ): one
        for one in sessions
    }
    return list(kinds.values())


def possible(action_id: str, session: Session | None, *, read_only: bool = False) -> bool:
    """Return whether an action makes sense for the selected session and is allowed."""
    action = REGISTRY.get(action_id)
    if read_only and action is not None and (action.changes or action.writes):
        return False
    if session is not None and session.deleted_at is not None and action_id in _NOT_IN_TRASH:
        return False
    if session is None:
        return action_id in _ALWAYS
    wanted = _WHEN.get(action_id)
    return wanted is None or wanted(session)


class ActionTarget:
    """The session under the cursor, and the sessions that keys for several act on.

    Args:
        current: the session under the cursor.
        chosen: the sessions that keys for several act on.
        marked: True if the user marked these; False if they are a group or the current session.
        read_only: True if no session may be changed.
        asking: returns the session whose asks are shown on request: the current one or another.
        on_worker: returns whether the step under the cursor started a worker.
    """

    def __init__(
        self,
        current: Session | None,
        chosen: Sequence[Session] = (),
        *,
        marked: bool = False,
        read_only: bool = False,
        asking: Callable[[], Session | None] = lambda: None,
        on_worker: Callable[[], bool] = lambda: False,
    ) -> None:
        self.current = current
        self.chosen = chosen
        self.marked = marked
        self._read_only = read_only
        self._asking = asking
        self._on_worker = on_worker

    @cached_property
    def _kinds(self) -> Sequence[Session]:
        """One chosen session of each kind: a few represent thousands."""
        return unlike(self.chosen)

    def can(self, action: str) -> bool:
        """Return True if an action applies to one of the chosen sessions, or to the current one."""
        if action == "beside" and self.marked:
            return True  # opens the marked sessions, wherever the cursor is
        if action == "answer" and self._asking() is not None:
            return True  # opens the asks of another session if the current one has none
        if action == OPEN_WORKER:
            return self._on_worker()
        meant = self._kinds if action in BULK and self.chosen else [self.current]
        return any(possible(action, session, read_only=self._read_only) for session in meant)

    def why_not(self, action: str, *, restore_key: str) -> str:
        """Return why an action cannot be done now; empty if it can.

        Args:
            action: the id of the action that the user asked for.
            restore_key: the key that restores sessions from the trash or the archive.
        """
        if self.can(action):
            return ""
        if action == "answer":
            return texts.NOTHING_ASKS
        if action == TO_LEAD and self.current is not None:
            return family_texts.NO_LEAD
        chosen = self.chosen if action in BULK else []
        several = chosen if chosen != [self.current] else []
        return texts.why_not(
            action,
            self.current,
            read_only=self._read_only and (REGISTRY[action].changes or REGISTRY[action].writes),
            several=several,
            marked=self.marked,
            restore_key=restore_key,
        )
