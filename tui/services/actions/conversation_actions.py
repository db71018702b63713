"""Changes of the conversation of one session: fork it, go back in it, take that back, go on from a summary."""

from agentdash.sessions.agents.registry import takes_prompts
from agentdash.sessions.model.session import Session
from agentdash.sessions.transcript.session_steps import Growth
from agentdash.tui.services.desk import Actions
from agentdash.tui.texts import conversation_texts as words


class ConversationActions(Actions):
    """Shows what a change means, asks, and makes it."""

    async def change(self, verb: str, session: Session, growth: Growth | None, item: int, undo_key: str) -> None:
        """Show the dialog of a verb for a step of a session, or why it cannot be done now.

        Args:
            verb: ``fork``, ``rewind``, ``undo`` or ``compact``.
            growth: its steps; None if none is read.
            item: the step under the cursor.
            undo_key: the key that takes a change back.
        """
        refusal = self._refusal(verb, session)
        if growth is None or refusal:
            self._requests.show_refusal(refusal or words.NO_STEP)
            return
        if not growth.view.complete or growth.ahead:
            self._requests.show_refusal(words.STILL_LOADING)
            return
        from agentdash.tui.services.actions.conversation_dialogs import ConversationDialogs, RefusedError

        with self._app.keys_held():
            dialogs = ConversationDialogs(self.desk, session, growth, undo_key)
            try:
                screen = await dialogs.screen(verb, item)
            except RefusedError as refused:
                self._requests.show_refusal(str(refused))
                return
            closed = self._app.push_screen(screen, wait_for_dismiss=True)
        await closed

    def _refusal(self, verb: str, session: Session) -> str:
        if self._access.read_only:
            return words.READ_ONLY
        if session.deleted_at is not None:
            return words.in_trash(session)
        if not takes_prompts(session.agent):
            return words.no_conversation(session)
        return "" if session.status.ended or verb == "fork" else words.busy(session)
