"""A text of several lines that completes paths: ``@`` and the letters behind it offer the files of a folder."""

import re
from collections.abc import Sequence

from textual import on
from textual.content import Content
from textual.events import Blur, Key
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea
from textual.widgets.text_area import Location

from agentdash.sessions.text.sanitize import cut_left
from agentdash.widgets.drawing.roles import MUTED

MOST_OFFERS, MOST_OFFERS_LOW = 6, 3
"""Maximum number of paths, and on a screen with few lines."""


class PathOffers(Widget):
    """Takes no room while it has no paths."""

    DEFAULT_CSS = "PathOffers { height: 0; display: none; }"

    def __init__(self) -> None:
        super().__init__()
        self._paths: Sequence[str] = ()
        self._at = 0

    @property
    def is_open(self) -> bool:
        """True if it has paths."""
        return bool(self._paths)

    @property
    def chosen(self) -> str:
        """The path under the cursor."""
        return self._paths[self._at]

    @property
    def room(self) -> int:
        """The number of paths for which the screen has room."""
        return MOST_OFFERS_LOW if self.screen.has_class("-low") else MOST_OFFERS

    def show(self, paths: Sequence[str]) -> None:
        """Show paths with the cursor on the first; none close the list."""
        if list(paths) == list(self._paths):
            return
        if len(paths) != len(self._paths):
            self.styles.height = len(paths)
            self.display = bool(paths)
        self._paths, self._at = list(paths), 0
        self.refresh()

    def narrow(self, letters: str) -> None:
        """Keep the paths that contain these letters; none if they are a whole path, so that Enter sends it."""
        wanted = letters.casefold()
        whole = letters in self._paths
        self.show([path for path in self._paths if not whole and wanted in path.casefold()])

    def move(self, by: int) -> None:
        """Move the cursor, from the last path to the first."""
        self._at = (self._at + by) % len(self._paths)
        self.refresh()

    def render(self) -> Content:
        """Return a line per path; the end of a long path is shown, because it has the name."""
        width = self.size.width
        return Content("\n").join(self._line(number, path, width) for number, path in enumerate(self._paths))

    def _line(self, number: int, path: str, width: int) -> Content:
        text = f"  {cut_left(path, max(1, width - 2))}"
        # Reversed too, so that the cursor is visible without colours.
        return Content.styled(text, "reverse bold" if number == self._at else MUTED)


_WORD = re.compile(r"(?:^|[\s(\[{<\"'`])@([^\s@]*)$")
"""A word that begins with ``@`` and ends at the cursor; an address has letters before its ``@``."""


class CompletingText(TextArea):
    """Up and down choose a path while some are offered, Tab or Enter takes it, and Esc closes the list.

    Only typing opens the list: a text that was pasted, recalled or restored does not.
    """

    class PathsAsked(Message):
        """The user typed letters of a path; the receiver answers with :meth:`offer`."""

        def __init__(self, text: "CompletingText", letters: str) -> None:
            super().__init__()
            self.text = text
            self.letters = letters

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(
            id=id, placeholder=placeholder, show_line_numbers=False, soft_wrap=True, compact=True, tab_behavior="focus"
        )
        self.offers = PathOffers()
        """The list of paths; the container of the text shows it."""
        self._typed = False
        self._closed_at: Location | None = None
        """The beginning of a word for which the user closed the list."""

    def offer(self, letters: str, paths: list[str]) -> None:
        """Offer paths for letters, unless the user has gone on to other ones."""
        word = self._word
        wanted = word is not None and word[1] == letters and self.has_focus
        self.offers.show(paths if wanted else [])
        self.offers.narrow(letters)

    def on_key(self, event: Key) -> None:
        """Move in the list and take a path, if some are offered."""
        self._typed = event.is_printable or event.key == "backspace"
        if self.offers.is_open and event.key in ("up", "down", "tab", "enter", "escape"):
            event.stop()
            event.prevent_default()
            if event.key in ("up", "down"):
                self.offers.move(1 if event.key == "down" else -1)
            elif event.key == "escape":
                self._closed_at = self._word[0] if self._word is not None else None
                self.offers.show([])
            else:
                word, chosen = self._word, self.offers.chosen
                self.offers.show([])
                if word is not None:
                    self.move_cursor(self.replace(chosen, word[0], self.cursor_location).end_location)

    @on(TextArea.Changed)
    def _ask(self) -> None:
        word = self._word
        if word is None or word[0] != self._closed_at:
            self._closed_at = None
        if word is None or not self._typed or self._closed_at is not None:
            self.offers.show([])
        else:
            # At once: a key that follows must not take a path that the letters have left behind.
            self.offers.narrow(word[1])
            self.post_message(self.PathsAsked(self, word[1]))

    @on(TextArea.SelectionChanged)
    def _left_word(self) -> None:
        if self.offers.is_open and self._word is None:
            self.offers.show([])

    def on_blur(self, event: Blur) -> None:  # noqa: ARG002 - the name is Textual's
        """Close the list."""
        self.offers.show([])

    @property
    def _word(self) -> tuple[Location, str] | None:
        """The beginning and the letters of the path at the cursor; None without one, or with a selection."""
        row, column = self.cursor_location
        match = _WORD.search(self.document.get_line(row)[:column]) if self.selection.is_empty else None
        return ((row, match.start(1)), match[1]) if match is not None else None
