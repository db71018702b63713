"""A short list of paths beside a prompt, with a cursor that the prompt moves."""

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget

from ...sessions.text.sanitize import cut_left
from ..drawing.roles import MUTED

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
