"""From roles to colours: the one place where the meaning of a text becomes a style.

Line-API widgets name what a text means (``failure``, ``dim``); the theme says how that looks.  The styles are
component classes, so that a theme or a style sheet can change each of them.
"""

import re
from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from .glyphs import Signs

ROLES = {
    "role--text", "role--dim", "role--running", "role--attention", "role--failure", "role--good", "role--prompt",
    "role--command", "role--output", "role--rule", "role--heading", "role--cursor", "role--cursor-blurred",
    "role--title", "role--strong", "role--emphasis", "role--link", "role--code", "role--source", "role--keyword",
    "role--string", "role--comment", "role--number", "role--name", "role--added", "role--added-word", "role--removed",
    "role--removed-word", "role--hunk", "role--line", "role--match",
}  # fmt: skip
"""The component classes of a widget that paints by roles."""

MUTED = "$muted"
"""The colour of what matters less, for texts that are styled piece by piece."""

VARIABLES = {
    "muted": "#808080", "muted-style": "none", "rule": "#808080", "cursor-blurred": "#404040",
    "code": "#9a7b3c", "code-ground": "#80808020", "keyword": "#a06cc8", "string": "#4d8f57", "number": "#b5713a",
    "name": "#4d84c4", "hunk": "#3f8f99", "changed-style": "bold underline",
    "added": "#4d8f57", "added-ground": "#00800018", "added-word-ground": "#00800018",
    "removed": "#c8605a", "removed-ground": "#80000018", "removed-word-ground": "#80000018",
}  # fmt: skip
"""What a theme may set beyond Textual's own variables, and what holds, on dark and on light, where it does not."""

ROLES_CSS = """
    & > .role--text { color: $foreground; }
    & > .role--dim { color: $muted; text-style: $muted-style; }
    & > .role--running { color: $text-primary; }
    & > .role--attention { color: $text-warning; text-style: bold; }
    & > .role--failure { color: $text-error; }
    & > .role--good { color: $text-success; text-style: bold; }
    & > .role--prompt { color: $text-primary; text-style: bold; }
    & > .role--command { color: $foreground; text-style: bold; }
    & > .role--output { color: $muted; text-style: $muted-style; }
    & > .role--rule { color: $muted; text-style: $muted-style; }
    & > .role--heading { color: $muted; text-style: $muted-style; }
    & > .role--title { color: $text-primary; text-style: bold; }
    & > .role--strong { color: $foreground; text-style: bold; }
    & > .role--emphasis { color: $foreground; text-style: italic; }
    & > .role--link { color: $text-primary; text-style: underline; }
    & > .role--code { color: $code; background: $code-ground; }
    & > .role--source { color: $foreground; background: $code-ground; }
    & > .role--keyword { color: $keyword; background: $code-ground; }
    & > .role--string { color: $string; background: $code-ground; }
    & > .role--comment { color: $muted; background: $code-ground; text-style: $muted-style; }
    & > .role--number { color: $number; background: $code-ground; }
    & > .role--name { color: $name; background: $code-ground; }
    & > .role--added { color: $added; background: $added-ground; }
    & > .role--added-word { color: $added; background: $added-word-ground; text-style: $changed-style; }
    & > .role--removed { color: $removed; background: $removed-ground; }
    & > .role--removed-word { color: $removed; background: $removed-word-ground; text-style: $changed-style; }
    & > .role--hunk { color: $hunk; }
    & > .role--line { color: $rule; }
    & > .role--match { color: $text-warning; text-style: reverse bold; }
    & > .role--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    & > .role--cursor-blurred { background: $cursor-blurred; }
"""
"""Their default colours, to be put into the widget's own rule."""


class Painter:
    """Builds the strips of one widget; forgets its styles when the theme changes."""

    def __init__(self, widget: Widget, signs: Signs) -> None:
        self._widget = widget
        self._plain = signs.plain
        self._styles: dict[str, Style] = {}

    def clear(self) -> None:
        """The theme or the focus changed."""
        self._styles.clear()

    def style(self, role: str) -> Style:
        """The style of a role on the widget's own background."""
        found = self._styles.get(role)
        if found is None:
            base = self._widget.rich_style
            name = f"role--{role}"
            try:
                found = self._widget.get_component_rich_style(name) if name in ROLES else base
            except KeyError:
                return base  # the style sheet is being applied just now; the widget is told when it was
            self._styles[role] = found
        return found

    def strip(self, spans: Iterable[tuple[str, str]], width: int, *, over: str = "") -> Strip:
        """One line; ``over`` names a role whose style wins over all others, such as the cursor's."""
        top = self.style(over) if over else None
        segments = []
        for text, style in _joined(spans):
            segments.append(Segment(painted(self._plain(text)), top if top is not None else self.style(style)))
        return Strip(segments).adjust_cell_length(width, top if top is not None else self.style(""))


_SHAPERS = re.compile("[\u200c\u200d\ufe0e\ufe0f]")


def painted(text: str) -> str:
    """The text without joiners and variation selectors.

    Terminals, and Rich, do not agree how many cells the characters beside them take: what stands to the right of them
    would be moved, or cut off.
    """
    return text if text.isascii() else _SHAPERS.sub("", text)


def _joined(spans: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Neighbours of one role as one: every segment costs some forty bytes of its own."""
    joined: list[tuple[str, str]] = []
    for text, role in spans:
        if joined and joined[-1][1] == role:
            joined[-1] = (joined[-1][0] + text, role)
        elif text:
            joined.append((text, role))
    return joined
