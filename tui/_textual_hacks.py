"""Every private name of Textual that the dashboard uses, checked with Textual 8.2.8.

Each is here because the public interface has no alternative.  Check this module after each update of Textual.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, ClassVar, TextIO

from rich.console import Console, RenderableType
from textual import _compositor, events
from textual._compositor import Compositor, CompositorMap, ReflowResult
from textual._parser import ParseEOF, ParseTimeout
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.containers import Vertical
from textual.drivers import linux_driver
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

__all__ = [
    "CheckedDriver", "KeyParser", "ParseEOF", "ParseTimeout", "counted_writes", "driver_of", "is_bound",
    "lay_out",
    "on_crash", "send_every_resize", "without_toasts", "write", "write_changes",
]  # fmt: skip


def write(app: App[Any], sequence: str) -> None:
    """Write an escape sequence to the terminal itself; Textual can only write parts of its own pictures."""
    if app._driver is not None:
        app._driver.write(sequence)
        app._driver.flush()


def driver_of(app: App[Any]) -> Any:
    """Return what connects an app to its terminal; None before the start."""
    return app._driver


def counted_writes(app: App[Any], count: Callable[[str], object]) -> Callable[[], None]:
    """Also pass each text that the app writes to ``count``; return a function that ends this.

    Textual does not report how much it writes.
    """
    driver = app._driver
    if driver is None:
        return lambda: None
    original = driver.write

    def counted(data: str) -> None:
        count(data)
        original(data)

    def restore() -> None:
        driver.write = original  # type: ignore[method-assign]

    driver.write = counted  # type: ignore[method-assign]
    return restore


def is_bound(screen: Screen[Any], key: str) -> bool:
    """Return whether a key is bound at the current focus.

    ``active_bindings`` omits actions that are not possible now, although the key is still bound to them.
    """
    return any(key in bindings.key_to_bindings for _, bindings in screen._modal_binding_chain)


def lay_out(screen: Screen[Any]) -> bool:
    """Lay out the screen now if a layout is due, instead of at the next tick of its timer; return whether it was."""
    if not screen._layout_required:
        return False
    screen._on_timer_update()
    return True


def set_size_classes(screen: Screen[Any]) -> None:
    """Give a screen the classes of the terminal's size at once.

    Textual does so behind the screen's own handlers of a ``Resize``, and a screen below a dialog can get only one: what
    its handlers decide by its classes would be decided for the old size.
    """
    screen.update_classes(size_classes(screen.app, screen.app.size), animate=False)


def size_classes(app: App[Any], size: Size) -> dict[str, bool]:
    """Return which of the app's classes of sizes a screen of this size has."""
    breakpoints = (app.HORIZONTAL_BREAKPOINTS or [], app.VERTICAL_BREAKPOINTS or [])
    chosen = {
        max(one for one in ones if one[0] <= cells)[1] for cells, ones in zip(size, breakpoints, strict=True) if ones
    }
    return {name: name in chosen for ones in breakpoints for _, name in ones}


class OwnWidth(Vertical):
    """A column that chooses its width itself: Textual gives one with children that fill it all the width there is."""

    _has_relative_children_width = False


def send_every_resize(screen: Screen[Any]) -> None:
    """Let each widget of a new screen get a ``Resize`` and a ``Show`` when it comes back to the screen.

    Textual compares a layout with its last map.  After a scroll, a question for a region makes a new map, and a widget
    that came back in the meantime is in it: it would never learn its size, and show the lines of a list without one.
    """
    screen._compositor = _FaithfulCompositor()


class _FaithfulCompositor(Compositor):
    """Compares a layout with the last one whose events were sent."""

    def __init__(self) -> None:
        super().__init__()
        self._laid_out: CompositorMap = {}

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        """Lay out, and return which widgets are hidden, shown and resized."""
        self._full_map = self._laid_out
        result = super().reflow(parent, size)
        self._laid_out = self._full_map
        return result


def _calm_screens() -> None:
    """Mend some faults of all screens, unless another Textual has other names for what is mended.

    A layout sends the screen a ``Resize`` with the size that was laid out, and a ``Resize`` lays out for the event's
    size.  So two sizes in the queue, as at a start, bring each other back without end.  For an old size, the terminal's
    own is laid out here, or nothing if it is laid out already.

    An app can hold its pictures back, as long as they are not complete: drawing takes a third of the time of a start.

    A change below a dialog marks the whole screen as changed, because the screen below marks its own regions again, and
    the first such region is all of it.
    """
    for name, mended in (("_on_resize", _resized), ("_compositor_refresh", _refreshed)):
        if callable(original := getattr(Screen, name, None)) and not hasattr(original, "mended"):
            setattr(Screen, name, mended(original))


def _resized(original: Callable[..., Any]) -> Callable[..., Any]:
    async def on_resize(screen: Screen[Any], event: events.Resize) -> None:
        size = screen.app.size
        if event.size == size:
            await original(screen, event)
        elif screen._compositor.size != size:
            # In the queue, it can have taken the place of the terminal's new size, which would never be laid out.
            await original(screen, events.Resize(size, size))
        event.stop()

    on_resize.mended = True  # type: ignore[attr-defined]
    return on_resize


def _refreshed(original: Callable[..., Any]) -> Callable[..., Any]:
    def refresh(screen: Screen[Any]) -> None:
        app = screen.app
        if getattr(app, "holds_pictures", False):
            screen._dirty_widgets.clear()
        elif app.is_inline or screen is app.screen or screen not in app._background_screens:
            original(screen)
        elif regions := set(screen._compositor._dirty_regions):
            app.screen.refresh(*regions)
            screen._compositor._dirty_regions.clear()
            screen._dirty_widgets.clear()

    refresh.mended = True  # type: ignore[attr-defined]
    return refresh


_calm_screens()

Lines = Iterable[tuple[int, Iterable[tuple[int, Strip]]]]
"""Numbers of lines of the terminal, and the strips in each with the columns at which they begin."""

Changes = Callable[[tuple[int, int], Lines, Console], str]
"""Returns the text that shows new lines of a picture on a terminal of a size."""


def write_changes(app: App[Any], changes: Changes) -> None:
    """Write of each picture what ``changes`` returns; another Textual writes as it does by itself."""
    original = getattr(app, "_display", None)
    if original is None or not (hasattr(_compositor, "LayoutUpdate") and hasattr(_compositor, "ChopsUpdate")):
        return

    def display(screen: Screen[Any], renderable: RenderableType | None) -> None:
        known = isinstance(renderable, _compositor.LayoutUpdate | _compositor.ChopsUpdate)
        original(screen, _Update(renderable, changes) if known else renderable)

    app._display = display  # type: ignore[method-assign]


class _Update(_compositor.CompositorUpdate):
    """A picture, of which only the changes are written."""

    def __init__(self, update: Any, changes: Changes) -> None:
        self._update = update
        self._changes = changes

    def render_segments(self, console: Console) -> str:
        """Return the text to write."""
        update = self._update
        if isinstance(update, _compositor.LayoutUpdate):
            x, y = update.region.offset
            lines = [(row, [(x, Strip.join(list(strips)))]) for row, strips in enumerate(update.strips, y)]
            return self._changes(update.region.size, lines, console)
        size = Size(update.chop_ends[0][-1], len(update.chop_ends))
        return self._changes(size, _lines(update), console)


def _lines(update: _compositor.ChopsUpdate) -> Iterator[tuple[int, list[tuple[int, Strip]]]]:
    """Yield the strips that the spans to be updated touch, line by line."""
    touched: dict[int, dict[int, Strip]] = {}
    for y, x1, x2 in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x < x2 and end > x1:
                touched.setdefault(y, {})[x] = strip
    for y, strips in touched.items():
        yield y, sorted(strips.items(), key=lambda item: item[0])


def without_toasts(app: App[Any]) -> None:
    """Let no screen have Textual's widgets for toasts: messages have a line of their own."""
    app._disable_notifications = True


def on_crash(app: App[Any], report: Callable[[], RenderableType]) -> None:
    """Let an app that crashes print only this report.

    Textual would print a traceback with local variables, which contain agents' text.  An error of an app that was asked
    to end is not a crash: at the start, handlers then miss widgets that will not come.
    """

    def fatal_error() -> None:
        if app._exit:
            app._return_code = 0
        else:
            app._exit_renderables.append(report())
        app._close_messages_no_wait()

    app._fatal_error = fatal_error  # type: ignore[method-assign]


class KeyParser(XTermParser):
    """Textual's parser of terminal input; its driver creates the parser by a name in the driver's module."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        return self.encoded(sequence, alt=alt)

    def encoded(self, sequence: str, *, alt: bool = False) -> list[events.Key]:
        """Return the keys that a sequence encodes; none for a number of which Textual cannot make a character."""
        keys: list[events.Key] = []
        with suppress(ValueError, OverflowError):
            keys.extend(super()._sequence_to_key_events(sequence, alt))
        return keys


class CheckedDriver(linux_driver.LinuxDriver):
    """Textual's driver with a choice of parser, output, and test for a terminal that is gone."""

    parser: ClassVar[type[XTermParser]] = XTermParser

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self._file is not None:
            self._file = self.output(self._file)

    @property
    def app(self) -> Any:
        """The app that draws."""
        return self._app

    def output(self, terminal: TextIO) -> Any:
        """Return the file to write to instead of the terminal."""
        return terminal

    def is_gone(self) -> bool:
        """Return whether the terminal is gone."""
        return False

    def run_input_thread(self) -> None:
        """Read keys until the end."""
        vars(linux_driver)["XTermParser"] = self.parser
        super().run_input_thread()

    def _sigcont_application(self, *_: object) -> None:
        """Take the terminal back after a stop.

        A terminal that goes away sends SIGHUP and SIGCONT.  Textual would start a second thread that reads it.  That
        thread would take keys from the first one, and keep a core busy for ever after the app's end.
        """
        if self._app.return_code is not None or self.is_gone():
            return
        if self._key_thread is not None and self._key_thread.is_alive():
            self.suspend_application_mode()
        super()._sigcont_application()
