"""Time from the start of a program to its first text on the screen, for ours and a bare Textual app."""

import sys
import time

from terminal import Terminal

DASHBOARD = [sys.executable, "-m", "agentdash"]
BARE = [
    sys.executable,
    "-c",
    """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("ready")
Bare().run(mouse=False)
""",
]


def first_paint(argv: list[str], text: str) -> float:
    """Return the milliseconds from the start of the process to its first text."""
    began = time.perf_counter()
    terminal = Terminal(argv)
    try:
        return (terminal.until(text) - began) * 1000
    finally:
        terminal.close()
