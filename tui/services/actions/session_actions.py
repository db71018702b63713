"""Actions on sessions: ask the user, call the manager in a thread, show a message or a receipt.

Errors never end the dashboard, and nothing here blocks the event loop.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import structs

from ....sessions.launch import Ladder, Launch, Start
from ....sessions.lifecycle.agent_list import AgentInfo
from ....sessions.lifecycle.process_list import ProcessInfo
from ....sessions.lifecycle.taken_check import held_elsewhere
from ....sessions.model import Receipt, Session
from ....sessions.reader import SessionReader
from ....sessions.storage.prompts.drafts import NEW_SESSION
from ....sessions.text import units
from ....widgets.drawing.glyphs import Signs
from ....widgets.drawing.short_forms import place
from ....widgets.inputs.history import History
from ...dialogs.asking.confirm import Answer, ConfirmScreen
from ...keys.key_queue import KeysInOrder
from ...keys.keymap import DEFAULT, Keymap
from ...messages import SessionAwaited
from ...texts import family_texts
from ...texts import screen_texts as texts
from ...texts.takeover_texts import archived_of, put_away_warning
from ..background import Requests
from ..drafts import Drafts
from ..own_interface import OwnInterfaces
from ..start_memory import StartMemory
from ..write_access import WriteAccess
from .adjust_actions import AdjustActions
from .ask_actions import AskActions
from .broadcasts import Broadcasts
from .bulk_actions import BulkActions
from .chain_actions import ChainActions
from .continue_actions import ContinueActions
from .conversation_actions import ConversationActions
from .family_stop import one_receipt
from .project_actions import ProjectActions
from .prompt_actions import PromptActions
from .prompt_tools import PromptWriting


class SessionActions:
    """Starts, prompts, stops and deletes sessions for the main screen."""

    def __init__(
        self,
        app: KeysInOrder[Any],
        reader: SessionReader,
        access: WriteAccess,
        requests: Requests,
        signs: Signs,
        *,
        drafts: Drafts,
        asks: AskActions,
        keymap: Keymap = DEFAULT,
    ) -> None:
        self.app = app
        self.asks = asks
        """The questions of live agents."""
        self.drafts = drafts
        """Unsent prompts."""
        self.keymap = keymap
        self.stay_in_prompt = False
        """True if the prompt keeps the keys after it was sent."""
        self.read_only = access.read_only
        """True if every change is refused."""
        self._reader = reader
        self._access = access
        self._requests = requests
        self.signs = signs
        """The characters to draw with."""
        self.bulk = BulkActions(app, reader, access, requests, signs)
        """The same actions for several sessions at once."""
        self.broadcasts = Broadcasts(self.bulk, access, requests)
        """One prompt to several sessions."""
        self.writing = PromptWriting(app, reader, requests, signs)
        """Tools for writing a prompt."""
        self.prompts = PromptActions(app, reader, access, requests, self.bulk, signs)
        """Prompts to sessions, and their queues."""
        self.continuing = ContinueActions(app, reader, access, requests, self._await)
        """Conversations that go on in a new session."""
        self.adjust = AdjustActions(app, reader, access, requests)
        """The model and the mode of sessions."""
        self.chains = ChainActions(app, reader, access, requests)
        """The sessions that wait for the end of others."""
        self.projects = ProjectActions(app, reader, access, requests, signs)
        """The settings of projects."""
        self.interfaces = OwnInterfaces(app, access, requests)
        """The agents' own interfaces."""
        self.conversation = ConversationActions(app, access, requests, drafts, signs, self._await)
        """Forks, steps back and summaries of conversations."""
        self.default_agent = ""
        """The agent that is started if the user names none; empty until it is known."""
        self.agents: list[AgentInfo] = []
        """The agents, installed or not; empty until they are known."""
        self._undoable: list[list[str]] = []
        self.start_memory = StartMemory(app, requests)
        self.command_history = History()
        """The history of the command line."""
        self.awaited: str | None = None
        """A session that was just started or restored; it is selected as soon as it is in the table."""

    async def learn_default(self) -> None:
        """Read the default agent and the list of agents."""
        self.default_agent = await self._requests.ask(self._reader.default_agent, "") or ""
        self.agents = await self._requests.ask(self._reader.agents, "") or []

    @property
    def missing(self) -> str:
        """The reason a prompt cannot start a session: its agent is not installed.

        Empty if the agent is installed, or the agents are not known yet.
        """
        installed = [agent.name for agent in self.agents if agent.installed]
        if not self.agents or self.default_agent in installed:
            return ""
        return texts.not_installed(self.default_agent, bool(installed), self.keymap.name("new_session"))

    async def earlier_prompts(self) -> list[str]:
        """Return the user's recent prompts, newest first."""
        return await self._requests.ask(self._reader.recent_prompts) or []

    async def ask_what_to_start(self, cwd: str, like: Session | None = None, *, after: Session | None = None) -> None:
        """Open the new-session dialog, filled in like the session ``like``, or to start after ``after``, if given."""
        with self.app.keys_held():
            await self._ask_what_to_start(cwd, like, after)

    async def _ask_what_to_start(self, cwd: str, like: Session | None, after: Session | None) -> None:
        from ...dialogs.starting.new_session import NewSessionScreen
        from ...dialogs.starting.no_agent import NoAgentScreen
        from ...dialogs.starting.offer import Offer

        settings = await self.projects.settings_in(cwd)
        if settings is None:
            return
        agents = settings.agents
        if not any(agent.installed for agent in agents):
            self.app.push_screen(NoAgentScreen(agents))
            return
        if like is not None and like.agent not in {agent.name for agent in agents}:
            self._requests.show_error(texts.not_offered(like.agent))
            return
        draft = self.drafts.get(NEW_SESSION)
        first = Start(draft, agent=settings.default_agent, cwd=place(cwd))
        if settings.project is None or settings.project.state != "trusted":
            first = self.start_memory.filled(first, agents)  # a project's own choices win over the last ones
        if like is not None:
            options = await self._requests.ask(self._reader.options, like.id)
            first = Start(like.task, agent=like.agent, cwd=place(like.cwd), model=like.model, options=options or {})
        first = structs.replace(first, after=after.short_id if after is not None else "")
        folders = await self._requests.ask(self._reader.recent_folders) or []
        prompts = await self.earlier_prompts()
        offer = Offer(
            agents=agents,
            first=first,
            folders=folders,
            prompts=prompts,
            presets=settings.presets,
            project=settings.project,
        )

        def keep(text: str | None) -> None:
            # A text repeated from a session, and then started or emptied, is not a draft of a new session.
            unchanged = text is None or (like is not None and not text)
            self.drafts.put(NEW_SESSION, draft if unchanged else text or "")

        projects = self.projects
        self.app.push_screen(
            NewSessionScreen(
                offer,
                self.plan,
                self.spawn_copies,
                keep,
                self.start_memory.keep,
                settings_in=projects.settings_in,
                review_in=projects.review,
                tools=self.writing.help_with,
            )
        )

    async def review_project(self, cwd: str) -> None:
        """Show the settings of a folder's project, which the user can trust."""
        if await self.projects.review(cwd):
            await self.learn_default()

    async def plan(self, start: Start) -> tuple[Launch | None, str | None]:
        """Return the exact start, or the reason if the session cannot be started."""
        # The prompt affects nothing else in the command, so the command can be shown before the prompt is written.
        shown = structs.replace(start, prompt=start.prompt.strip() or "PROMPT")
        return await self._requests.outcome(asyncio.to_thread(self._reader.plan, shown))

    async def spawn(self, start: Start) -> str | None:
        """Start a session; return the reason if that failed."""
        call = asyncio.to_thread(lambda: self._access.manager("spawn").spawn(start))
        session, reason = await self._requests.outcome(call)
        if session is not None:
            self._await(session)
        return reason

    async def spawn_copies(self, start: Start) -> str | None:
        """Start ``start.copies`` sessions; return the reason if that failed."""
        if start.copies == 1:
            return await self.spawn(start)
        call = asyncio.to_thread(lambda: self._access.manager("spawn copies").spawn_copies(start))
        sessions, reason = await self._requests.outcome(call)
        if sessions:
            self._await(sessions[0])
        return reason

    def _await(self, session: Session) -> None:
        """Have the table select a session; its row can be there already, or still to come."""
        self.awaited = session.id
        for screen in self.app.screen_stack:
            screen.post_message(SessionAwaited())

    def refuse(self, reason: str) -> None:
        """Show why a request changed nothing."""
        self._requests.show_refusal(reason)

    async def start(self, text: str, cwd: str) -> bool:
        """Start a session with a prompt; return whether it was accepted."""
        if self.missing:
            self._requests.show_error(f"{self.missing[0].upper()}{self.missing[1:]}.")
            return False
        reason = await self.spawn(Start(text, cwd=cwd))
        if reason is not None:
            self._requests.show_error(reason)
        return reason is None

    async def stop_chosen(self, sessions: Sequence[Session]) -> None:
        """Stop one session with its own dialogs, several with one question."""
        if len(sessions) == 1:
            await self.stop(sessions[0])
        elif sessions:
            await self.bulk.stop(sessions)

    async def kill_chosen(self, sessions: Sequence[Session], current: Session | None) -> None:
        """Stop sessions without a grace period; only the current session is stopped without a question."""
        if sessions == [current]:
            await self.stop(sessions[0], now=True)
        elif sessions:
            await self.bulk.kill(sessions)

    async def delete_chosen(self, sessions: Sequence[Session]) -> None:
        """Delete one session with its own dialogs, several with one question."""
        if len(sessions) == 1:
            await self.delete(sessions[0])
        elif sessions:
            self._remember(await self.bulk.delete(sessions, undo_key=self.keymap.name("undo")))

    async def archive_chosen(self, sessions: Sequence[Session], current: Session | None) -> None:
        """Archive sessions; only the current session is archived without a question."""
        if sessions == [current]:
            await self.archive(sessions[0])
        elif sessions:
            self._remember(await self.bulk.archive(sessions, undo_key=self.keymap.name("undo")))

    async def stop(self, session: Session, *, now: bool = False) -> None:
        """Stop a session after a question (``now``: at once, without one), and show the receipt."""
        if now:
            await self._end(session, Ladder(interrupt=0, terminate=0), now=True)
            return
        ladder, answer = await self._confirmed(
            "Stop", session, lambda ladder: texts.stop_effect([session], texts.ladder_words(ladder)), more=True
        )
        if answer is Answer.ALL:
            await self._end(session, ladder or Ladder(), family=True)
        elif answer is Answer.YES and ladder is not None:
            await self._end(session, ladder)

    async def delete(self, session: Session) -> None:
        """Delete a session after a question; a running one is stopped first, with a receipt."""
        if self._refused_by_hand("delete", session):
            return
        consequence = f"{texts.trash([session])} {self._undo_hint(session)}"
        if warning := put_away_warning([session]):
            consequence = f"{warning}\n{consequence}"
        ladder, answer = await self._confirmed("Delete", session, lambda _: consequence)
        if ladder is None or answer is Answer.NO:
            return
        if session.has_process and await self._end(session, ladder) is None:
            return
        async with self.bulk.moving:
            deleted = await self._requests.done(lambda: self._access.manager("delete").delete(session.id))
            self._remember([session.id] if deleted else [])
        if deleted:
            self._requests.show_message(f'Deleted "{texts.title(session)}". {self._undo_hint(session)}')

    async def archive(self, session: Session) -> None:
        """Archive a session."""
        if self._refused_by_hand("archive", session):
            return
        async with self.bulk.moving:
            if any(session.id in batch for batch in self._undoable):
                return  # a second press, before the row is gone
            archived = await self._requests.done(
                lambda: self._access.manager("archive").housekeeping.archive(session.id)
            )
            self._remember([session.id] if archived else [])
        if archived:
            told = f'Archived "{texts.title(session)}". {self._undo_hint(session)} {archived_of(session)}'
            self._requests.show_message(told.rstrip())

    def _refused_by_hand(self, action: str, session: Session) -> bool:
        """Return whether a user of this machine has the session by hand, and name that user."""
        refused = session.taken_by is not None and held_elsewhere(session) is None
        if refused:
            self._requests.show_refusal(texts.why_not(action, session, read_only=False))
        return refused

    def ask_for_title(self, session: Session) -> None:
        """Open the dialog with the session's title."""

        def rename_to(title: str) -> Session:
            return self._access.manager("rename").housekeeping.rename(session.id, title)

        async def rename(title: str) -> str | None:
            return (await self._requests.outcome(asyncio.to_thread(rename_to, title)))[1]

        from ...dialogs.asking.rename import RenameScreen

        self.app.push_screen(RenameScreen(session.label, rename))

    async def pin_chosen(self, sessions: Sequence[Session]) -> None:
        """Pin the sessions; unpin them if all are pinned."""
        pinned = not all(session.pinned_at for session in sessions)

        def pin(session: Session) -> Session:
            return self._access.manager("pin").housekeeping.pin(session.id, pinned)

        for session in sessions:
            if not await self._requests.done(pin, session):
                return
        if sessions:
            what = f'"{texts.title(sessions[0])}"' if len(sessions) == 1 else f"{len(sessions)} sessions"
            self._requests.show_message(f"{'Pinned' if pinned else 'Unpinned'} {what}.")

    async def mark_chosen(self, sessions: Sequence[Session]) -> None:
        """Mark the sessions read; mark them unread if all are read."""
        seen = not all(session.all_seen for session in sessions)
        ids = [session.id for session in sessions if seen or session.status.ended]

        def mark() -> list[Session]:
            return self._access.manager("mark read").housekeeping.mark_all_seen(ids, seen=seen)

        if ids and await self._requests.ask(mark) is not None:
            what = f'"{texts.title(sessions[0])}"' if len(ids) == 1 else units.count(len(ids), "session")
            self._requests.show_message(f"Marked {what} {'read' if seen else 'unread'}.")

    async def undo(self) -> None:
        """Restore the sessions that this dashboard last deleted or archived; wait if that is still in progress."""
        if self.bulk.moving.locked():
            self._requests.show_message("Busy: undo runs next.")
            async with self.bulk.moving:
                pass
        if not self._undoable:
            self._requests.show_refusal("Nothing to undo.")
            return
        await self.restore(self._undoable[-1])

    async def restore(self, session_ids: Sequence[str]) -> None:
        """Restore sessions from the archive or the trash."""
        ids = list(session_ids)
        back = await self.bulk.restore(ids)
        returned = {session.id for session in back}
        known = [[key for key in batch if key not in returned] for batch in self._undoable]
        self._undoable = [batch for batch in known if batch]
        if back:
            self._await(back[0])

    def _undo_hint(self, session: Session) -> str:
        return texts.undoable([session], self.keymap.name("undo"))

    def _remember(self, session_ids: list[str]) -> None:
        """Record sessions that one key put away, so that one undo restores them."""
        if session_ids:
            self._undoable.append(session_ids)

    async def save(self, session_id: str, path: str, replace: bool) -> tuple[bool, str | None]:
        """Write a session to a file; return whether the file exists already, and the reason if it was not written."""
        # Only saving needs the writers.
        from ....sessions.export.formats import format_of
        from ....sessions.export.saving import ExistsError, save

        def write() -> tuple[Path, int]:
            target = Path(path).expanduser().absolute()
            steps = self._reader.each_step(session_id)
            pieces = format_of(target).write(
                self._reader.get(session_id), steps, self._reader.turns(session_id),
                self._reader.shown(session_id).has_cut,
            )  # fmt: skip
            return target, save(target, pieces, force=replace)

        try:
            written, reason = await self._requests.outcome(asyncio.to_thread(write), passing=ExistsError)
        except ExistsError as error:
            return True, str(error)
        if written is not None:
            self._requests.show_message(f"Wrote {place(str(written[0]))}, {units.size(written[1])}.")
        return False, reason

    def processes_of(self, session: Session) -> Callable[[], Awaitable[list[ProcessInfo] | None]]:
        """Return a function that reads the session's processes at each call."""
        return lambda: self._requests.ask(self._reader.processes, session.id)

    async def seen(self, session: Session) -> None:
        """Mark the session seen as of this snapshot; later steps stay unread."""
        if not self.read_only:
            await self._requests.ask(
                lambda: self._access.manager("mark seen").housekeeping.mark_seen(session.id, session.steps)
            )

    async def _end(
        self, session: Session, ladder: Ladder, *, now: bool = False, family: bool = False
    ) -> Receipt | None:
        """Stop a session and show the progress; if the user left that dialog, show the receipt as one line.

        ``family`` also stops all sessions that it started; there is one receipt for all of them.
        """

        def stop(at_once: bool) -> Receipt:
            if family:
                stopped = self._access.manager("stop family").stop_family([session.id], now=at_once)
                return one_receipt(session, stopped)
            return self._access.manager("stop").stop(session.id, now=at_once)

        ask = self._requests.ask
        from ...dialogs.asking.stopping import StoppingScreen

        below = await ask(self._reader.descendants, session.id) or ()
        ending, going_on = family_texts.ends_too(below, session)
        workers = len(ending) + len(going_on) * family
        hurry = partial(ask, stop, True)
        screen = StoppingScreen(texts.title(session), ladder, hurry, workers=workers, signs=self.signs)
        self.app.push_screen(screen)
        receipt = await ask(stop, now)
        if receipt is None:
            if screen.is_active:
                screen.dismiss(None)
        elif not receipt.ended and not receipt.left:
            if screen in self.app.screen_stack:
                screen.dismiss(None)
            if receipt.note:
                self._requests.show_message(receipt.note)
        elif screen.is_attached and screen in self.app.screen_stack:
            screen.show_receipt(receipt)
        else:
            self._requests.show_message(f'"{texts.title(session)}": {receipt.summary()}')
        return receipt

    async def _confirmed(
        self,
        verb: str,
        session: Session,
        words_of: Callable[[Ladder], str],
        *,
        more: bool = False,
    ) -> tuple[Ladder | None, Answer]:
        """List the processes that will be ended, and ask; return the stop ladder and the answer.

        ``more`` also offers to end the sessions that this one started.
        """
        with self.app.keys_held():
            ladder = await self._requests.ask(self._reader.ladder, session.id)
            processes = await self._requests.ask(self._reader.processes, session.id)
            family = await self._requests.ask(self._reader.descendants, session.id)
            if ladder is None or processes is None:
                return None, Answer.NO
            ending, going_on = family_texts.ends_too(family or (), session)
            screen = ConfirmScreen(
                f'{verb} "{texts.title(session)}"?',
                texts.process_lines(session, processes) or [texts.listed(session, self.signs)],
                "\n".join(filter(None, (words_of(ladder), family_texts.stop_effect(ending, going_on)))),
                verb.lower(),
                more=f"{verb.lower()} these too" if going_on and more else None,
                signs=self.signs,
            )
            answer = self.app.push_screen(screen, wait_for_dismiss=True)
        return ladder, await answer
