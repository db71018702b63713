"""Sequences that switch mouse reports while the dashboard runs: on, or off for the terminal's own selection.

Clicks and the wheel only (modes 1000 and 1006 of xterm): Textual's own switch also asks for every movement, which
wastes bytes on the line.
"""

ON = "\x1b[?1000h\x1b[?1006h"
OFF = "\x1b[?1006l\x1b[?1000l"
