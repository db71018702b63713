"""The pane that covers the steps: a step, its raw line, stderr, or the explanation of a status."""

from collections.abc import Callable
from typing import NamedTuple

from textual.widget import Widget

from agentdash.sessions.model.errors import StoreError, UnknownSessionError
from agentdash.sessions.model.session import Step
from agentdash.sessions.service.lifecycle.explain import Explanation
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.text.sanitize import clean, one_line
from agentdash.sessions.text.units import count, size
from agentdash.sessions.transcript.snapshot import View
from agentdash.tui.render.steps import step_text as rendered
from agentdash.tui.render.style import Style
from agentdash.tui.services.background import Requests
from agentdash.widgets.document.document_pane import DocumentPane
from agentdash.widgets.document.model import Document
from agentdash.widgets.document.plain import PlainText, Spans, facts, pretty_json
from agentdash.widgets.document.syntax import Code, CodeBlock
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.steps.step_document import step_document


class Chosen(NamedTuple):
    """A step of a session."""

    session_id: str
    view: View
    item: int


RAW_MOST = 4 << 20
"""The maximum number of bytes shown of a raw line; the pager opens a longer one."""


class StepDocuments:
    """Makes the documents of the pane; reads files, so call it in a thread."""

    def __init__(self, reader: SessionReader) -> None:
        self._reader = reader
        self.file_key = ""
        """The key that opens the whole file."""
        self.source = False
        """True to show texts as they were written, False to render them as Markdown."""

    def make(self, kind: str, session_id: str, view: View, item: int) -> Document:
        """Return the document of this kind about a step or its session.

        Raises:
            AgentdashError: the session, or one of its files, no longer exists.
        """
        made = self._made(kind, session_id, view, item)
        len(made)  # splits lines and parses Markdown here, and not while it is drawn
        return made

    def _made(self, kind: str, session_id: str, view: View, item: int) -> Document:
        turn = view.turn(item)
        match kind:
            case "raw":
                return self._raw(session_id, turn, *view.where(item))
            case "stderr":
                text, left_out = self._reader.outputs.stderr_tail(session_id, turn)
                return stderr(text, left_out, turn, self.file_key)
            case "explain":
                return explanation(self._reader.explain(session_id))
        return step_document(self.whole(view, item), cwd=self._folder(session_id), source=self.source)

    def _folder(self, session_id: str) -> str:
        """Return the session's folder, to shorten paths; "" for a session in the trash: its steps can be read too."""
        try:
            return self._reader.get(session_id).cwd
        except UnknownSessionError:
            return ""

    @staticmethod
    def whole(view: View, item: int) -> Step:
        """Return a step with its full text; if its file is no longer readable, the part in memory."""
        try:
            return view.whole(item)
        except OSError:
            return view.step(item)

    def _raw(self, session_id: str, turn: int, offset: int, size_: int) -> Document:
        if not size_:
            return Document((("no raw line", "heading"),), [PlainText("This step has no line in the turn file.")])
        path = self._reader.outputs.part(session_id, turn).path
        try:
            with path.open("rb") as file:
                file.seek(offset)
                return raw_line(file.read(min(size_, RAW_MOST)), offset)
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror or error}.") from None


def raw_line(data: bytes, offset: int) -> Document:
    """Return one line of a turn file: as it is, or indented if it is JSON."""
    text = data.decode("utf-8", "replace").rstrip("\n")
    title: Row = (("raw line", "heading"), (f"at byte {offset:,}", "dim"), (size(len(data)), "dim"))
    pretty = pretty_json(text)
    block = PlainText(text) if pretty is None else CodeBlock(Code(pretty, "json"))
    return Document(title, [block])


def stderr(text: str, left_out: int, turn: int, file_key: str) -> Document:
    """Return the stderr of an agent in a turn; if it is long only its end, with the key that opens the whole file."""
    lines = text.rstrip("\n").count("\n") + 1 if text.strip() else 0
    amount = count(lines, "line") if lines else "empty"
    title: Row = (("stderr", "heading"), (f"turn {turn}", "dim"), (amount, "dim"))
    missing = [
        Spans([((), ((f"{size(left_out)} before this not shown: {file_key} opens the whole file", "attention"),))])
    ]
    blocks = [PlainText(text.strip("\n"))] if lines else []
    return Document(title, [*(missing if left_out else []), *blocks])


def explanation(why: Explanation) -> Document:
    """Return the status, its rule, and every fact with its source."""
    reason: Row = ((one_line(why.reason), "dim"),) if why.reason else ()
    title: Row = ((f'why "{why.status}"', "heading"), *reason)
    rows = [
        (one_line(fact.name), (f"{one_line(fact.value)}   ({one_line(fact.source)})", "text")) for fact in why.facts
    ]
    return Document(title, [PlainText(clean(why.rule)), facts(rows, caption=(("facts", "heading"),))])


def step_text(step: Step) -> str:
    """Return a whole step as text for external programs."""
    return "\n".join(rendered(step, Style(full=True, width=100))) + "\n"


class StepDocumentPane(DocumentPane):
    """Shows a step, its raw line, stderr or an explanation; keeps its scroll position while the step is the same."""

    def __init__(self, documents: StepDocuments, requests: Requests) -> None:
        super().__init__(id="pane")
        self._documents = documents
        self._requests = requests
        self._subject: tuple[str, int, int] | None = None
        self.kind = ""
        """The kind of document that is shown; empty while the pane is closed."""

        self.back_to: Callable[[], None] | None = None
        """Gives the keys back to the place from which the document was opened, if that is not the list of steps."""

    @property
    def follows(self) -> bool:
        """True if the document of this kind differs from step to step."""
        return self.kind in ("step", "raw")

    def close(self) -> None:
        """Close the document."""
        self.kind = ""
        self.begin_anew()

    def leave(self, steps: Widget) -> None:
        """Give the keys to the steps, or back to the place from which the document was opened."""
        back, self.back_to = self.back_to, None
        if back is None:
            self.screen.set_focus(steps)
        else:
            back()

    def begin_anew(self) -> None:
        """Show the next document from its first line."""
        self._subject = None

    async def read(self, chosen: Chosen) -> None:
        """Show the document of the current kind about a step, unless the user changes the kind during the read."""
        kind, (session_id, view, item) = self.kind, chosen
        made = await self._requests.ask(self._documents.make, kind, session_id, view, item)
        if made is not None and kind == self.kind:
            subject = (kind, view.step(item).turn, view.step(item).index)
            self.show(made, same=subject == self._subject)
            self._subject = subject
