"""Asks and open questions on a screen of sessions: the card in the place of the prompt, and what comes next."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.widget import Widget

from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.sessions.rules.attention import asks_you
from agentdash.tui.panes.session_pane import SessionPane
from agentdash.tui.texts import screen_texts as texts

if TYPE_CHECKING:
    from agentdash.tui.dialogs.asking.ask_card import AskCard
    from agentdash.tui.screens.session_screen import SessionScreen


def is_question(session: Session) -> bool:
    """Return whether a session ended with a question in its last message, which a prompt answers."""
    return session.status is Status.DONE and session.asks is not None and session.deleted_at is None


class Answers:
    """Shows the asks of a screen's sessions, one card at a time.

    Args:
        clock: returns the time in UTC ms.
    """

    def __init__(self, screen: "SessionScreen", *, clock: Callable[[], int]) -> None:
        self._screen = screen
        self._clock = clock
        self._cards: dict[SessionPane, AskCard] = {}
        self._came_from: Widget | None = None
        self._passed: dict[str, Session] = {}
        """The sessions whose last ask was answered here, as their rows were then."""

    @property
    def card(self) -> "AskCard | None":
        """The card on the screen; None if there is none."""
        return next((card for card in self._cards.values() if card.is_open), None)

    @property
    def have_keys(self) -> bool:
        """True if the card has the keys."""
        return self.card is not None and self.card.has_focus_within

    @property
    def came_from(self) -> Widget | None:
        """The widget that had the keys before the card."""
        return self._came_from

    def binds(self, key: str) -> bool:
        """Return whether the card has the keys and takes this one."""
        return self.have_keys and self.card is not None and self.card.binds(key)

    def asking(self) -> Session | None:
        """Return the current session if it asks something, else the first on the screen that does; asks come first."""
        current = self._screen.current
        if current is not None and (current.asking or is_question(current)):
            return current
        reachable = list(self._screen.reachable())
        return next((one for one in reachable if one.asking), next(filter(asks_you, reachable), None))

    async def answer(self) -> None:
        """Show the asks of the session that asks; from a card, those of the next one.

        A question at the end of the last message is answered with a prompt.
        """
        session = (self._next() if self.have_keys else None) or self.asking()
        if session is None:
            return
        with self._screen.operations.desk.app.keys_held():
            if session.asking:
                await self.show(session)
            elif self._screen.pane_for(session) is not None:
                self._screen.action_write_prompt()

    async def show(self, session: Session) -> None:
        """Show the asks of a session below its steps, or give the keys to its card."""
        screen, card = self._screen, self.card
        if card is not None and card.session.id == session.id and not card.is_finished:
            card.give_keys()
            return
        waiting = await screen.operations.asks.waiting(session.id)
        if waiting:
            await self._open(session, waiting)
        elif waiting is not None:
            screen.requests.show_message(texts.asks_nothing(session))

    async def _open(self, session: Session, waiting: Sequence[RecordedAsk]) -> None:
        screen, former = self._screen, self.card
        if former is None:
            self._came_from = screen.focused
        pane = screen.pane_for(session)
        if pane is None:
            return
        card = await self._card_in(pane, session, waiting)
        if former is not None and former is not card:
            former.close()
        screen.make_room(card)
        await card.open(session, waiting, goes_on=former is not None)

    async def _card_in(self, pane: SessionPane, session: Session, waiting: Sequence[RecordedAsk]) -> "AskCard":
        if pane not in self._cards:
            from agentdash.tui.dialogs.asking.ask_card import AskCard

            app = self._screen.operations.desk.app
            card = self._cards[pane] = AskCard(
                session,
                waiting[0],
                self._screen.operations.asks,
                clock=self._clock,
                typed=lambda: app.key_time,
                others=lambda session_id: sum(one.asking for one in self._others(session_id)),
                following=self._following,
                left=self.leave,
                finished=lambda: self._screen.run_worker(self.go_on(), group="answers"),
                rolled=self._roll,
            )
            await pane.mount(card)
        return self._cards[pane]

    def _others(self, session_id: str) -> list[Session]:
        """Return the other sessions that ask, the most urgent first."""
        others = (one for one in self._screen.reachable() if one.asking and one.id != session_id)
        return [one for one in others if one != self._passed.get(one.id)]

    def _following(self, session_id: str, waiting: Sequence[RecordedAsk]) -> tuple[int, str, str]:
        """Return how many asks follow, the session of the next one, and the key; ``waiting`` are those of this one."""
        others = self._others(session_id)
        named = self.card.session if self.card is not None and waiting else others[0] if others else None
        number = len(waiting) + sum(one.asking for one in others)
        return number, named.label if named is not None else "", self._screen.keymap.name("answer")

    def _next(self) -> Session | None:
        """Return the session whose asks follow those of the card; None if no other session asks."""
        others = self._others(self.card.session.id) if self.card is not None else []
        return others[0] if others else None

    def _roll(self, lines: int, pages: int) -> None:
        """Scroll the steps above the card."""
        steps = self._screen.detail.steps
        steps.action_roll(lines) if lines else steps.action_page(pages)

    async def go_on(self) -> None:
        """Show the asks of the next session after the last one of this session was answered, or leave."""
        if self.card is None or not self.card.is_finished:
            return
        passed = self.card.session.id
        self._passed |= {one.id: one for one in self._screen.reachable() if one.id == passed}
        following = self._next() if self.card.has_focus_within else None
        if following is not None:
            with self._screen.operations.desk.app.keys_held():
                await self.show(following)
        if self.card is not None and self.card.is_finished:
            self.leave()

    def leave(self) -> None:
        """Leave the card; the keys go to the place from which the user came."""
        card = self.card
        if card is None:
            return
        if card.has_focus_within:
            back = self._came_from if self._came_from is not None and self._came_from.can_focus else None
            self._screen.give_keys(back or self._screen.home_focus())
        card.close()

    def changed(self) -> None:
        """Read the asks of the card again."""
        if self.card is not None:
            self.card.changed()

    def fit(self) -> None:
        """Fit the card into its pane."""
        if self.card is not None:
            self.card.fit()

    def session_shown(self, session_id: str | None) -> None:
        """Leave the card of another session than the one that is shown now."""
        if self.card is not None and self.card.session.id != session_id:
            self.leave()
