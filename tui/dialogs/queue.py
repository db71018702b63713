"""The queue of one session: its unconfirmed prompts, and those that wait in their order."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar

from msgspec import Struct
from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content

from agentdash.sessions.model.session import Session
from agentdash.sessions.service.prompts.queue import SessionQueue
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt, Unconfirmed
from agentdash.tui.dialogs.asking.confirm import Answer, ConfirmScreen
from agentdash.tui.dialogs.dialog import ListDialog
from agentdash.tui.messages import SessionsChanged
from agentdash.tui.texts import prompt_texts
from agentdash.tui.texts import screen_texts as texts


class QueueNow(Struct, frozen=True):
    """The queue of a session at one moment."""

    session: Session
    unconfirmed: tuple[Unconfirmed, ...] = ()
    waiting: tuple[QueuedPrompt, ...] = ()


Change = Callable[[str, Session, Callable[[SessionQueue], object]], Awaitable[bool]]
"""Changes the queue of a session by a verb; returns False if that was not possible, after the reason was shown."""


class QueueScreen(ListDialog[tuple[int, QueuedPrompt]]):
    """Lists the prompts and changes them; returns the prompt that the user wants to edit, with its position.

    Args:
        clock: returns the time in UTC ms.
        at: the prompt that is under the cursor at first; None for the first one.
    """

    DECIDING: ClassVar[frozenset[str]] = frozenset({"s", "R"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("Q", "dismiss(None)", "close", show=False),
        Binding("J", "carry(1)", "move down", show=False),
        Binding("K", "carry(-1)", "move up", show=False),
        Binding("e", "take", "edit", show=False),
        Binding("D,delete", "cancel", "cancel", show=False),
        Binding("s", "send_now", "send now", show=False),
        Binding("h", "hold", "hold", show=False),
        Binding("r", "release", "release", show=False),
        Binding("R", "resend", "send again", show=False),
    ]

    def __init__(
        self,
        read: Callable[[], Awaitable[QueueNow | None]],
        change: Change,
        *,
        clock: Callable[[], int],
        at: QueuedPrompt | None = None,
    ) -> None:
        super().__init__("", "Esc close", empty="No queued prompts.")
        self._first = at
        self._read = read
        self._change = change
        self._clock = clock
        self._now: QueueNow | None = None

    def on_mount(self) -> None:
        """Read the queue."""
        self._refresh_rows()

    @on(SessionsChanged)
    @work(exclusive=True, group="rows")
    async def _refresh_rows(self) -> None:
        await self._reread()

    async def _reread(self) -> None:
        now = await self._read()
        if now is not None and now != self._now:
            under = self._under or self._first
            self._now = now
            self._show(under, now)

    @property
    def _rows(self) -> list[Unconfirmed | QueuedPrompt]:
        return [*self._now.unconfirmed, *self._now.waiting] if self._now is not None else []

    @property
    def _under(self) -> Unconfirmed | QueuedPrompt | None:
        """The prompt under the cursor."""
        at, rows = self.list.cursor, self._rows
        return rows[at] if at < len(rows) else None

    @property
    def _queued(self) -> tuple[int, QueuedPrompt] | None:
        """The waiting prompt under the cursor, with its position."""
        under = self._under
        if self._now is None or not isinstance(under, QueuedPrompt):
            return None
        return self._now.waiting.index(under) + 1, under

    def _show(self, under: Unconfirmed | QueuedPrompt | None, now: QueueNow) -> None:
        session, time = now.session, self._clock()
        self.dialog.entitle(f'Queue of "{texts.title(session)}"')
        self.dialog.border_subtitle = Content(prompt_texts.queue_holder(session))
        lines = [partial(prompt_texts.unconfirmed_row, prompt, time) for prompt in now.unconfirmed]
        lines += [
            partial(prompt_texts.queue_row, session, place, prompt, time) for place, prompt in enumerate(now.waiting, 1)
        ]
        known = [_key(row) for row in self._rows]
        key = _key(under) if under is not None else None
        self.show(lines, known.index(key) if key in known else self.list.cursor)

    def highlighted(self) -> None:
        """Show the keys of the prompt under the cursor."""
        if self._now is not None:
            under = self._under
            self.keys.show_keys(
                prompt_texts.queue_keys(
                    self._now.session,
                    on_queued=isinstance(under, QueuedPrompt),
                    on_unconfirmed=isinstance(under, Unconfirmed),
                )
            )

    def action_take(self) -> None:
        """Close, and edit the prompt under the cursor in the prompt box."""
        if (queued := self._queued) is not None:
            self.dismiss(queued)

    def action_carry(self, way: int) -> None:
        """Move the prompt under the cursor by one position."""
        if (queued := self._queued) is not None and self._now is not None:
            place = queued[0] + way
            if 1 <= place <= len(self._now.waiting):
                self._do("move", lambda queue: queue.move(queued[1], place))

    @work
    async def action_cancel(self) -> None:
        """Cancel the prompt under the cursor, or dismiss an unconfirmed one, after a question."""
        under = self._under
        if isinstance(under, Unconfirmed):
            question = ConfirmScreen(
                f"Dismiss the unconfirmed prompt of turn {under.turn}?", [texts.quoted(under.text)],
                "It is not sent again.", "dismiss it",
            )  # fmt: skip
            if await self.app.push_screen_wait(question) is Answer.YES:
                await self._done("dismiss", lambda queue: queue.dismiss(under))
            return
        if (queued := self._queued) is None:
            return
        question = ConfirmScreen(
            f"Cancel queued prompt {queued[0]}?", [texts.quoted(queued[1].text)], "It is not sent.", "cancel it",
            keep="keep it",
        )  # fmt: skip
        if await self.app.push_screen_wait(question) is Answer.YES:
            await self._done("cancel", lambda queue: queue.cancel(queued[1]))

    def action_send_now(self) -> None:
        """Send the prompt under the cursor before all others, although the queue is held."""
        if (queued := self._queued) is not None:
            self._do("send", lambda queue: queue.send_now(queued[1]))

    def action_hold(self) -> None:
        """Hold the queue: none of its prompts is sent until it is released."""
        if self._now is not None:
            key = self._now.session.id
            self._do("hold", lambda queue: queue.hold(key))

    def action_release(self) -> None:
        """Release the queue."""
        if self._now is not None:
            key = self._now.session.id
            self._do("release", lambda queue: queue.release(key))

    def action_resend(self) -> None:
        """Send the unconfirmed prompt under the cursor again."""
        under = self._under
        if isinstance(under, Unconfirmed):
            self._do("resend", lambda queue: queue.resend(under))

    @work
    async def _do(self, verb: str, act: Callable[[SessionQueue], object]) -> None:
        await self._done(verb, act)

    async def _done(self, verb: str, act: Callable[[SessionQueue], object]) -> None:
        if self._now is not None:
            await self._change(verb, self._now.session, act)
        await self._reread()


def _key(row: Unconfirmed | QueuedPrompt) -> tuple[bool, int, int | None]:
    """Return the identity of a row."""
    if isinstance(row, QueuedPrompt):
        return True, row.id, None
    return False, row.turn, row.steered
