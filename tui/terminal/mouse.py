"""Mouse reports, switched while the dashboard runs: off, so that the terminal's own selection works, or on.

Clicks and the wheel only (modes 1000 and 1006 of xterm): Textual's own switch also asks for every movement, which
sends bytes over the line for nothing.
"""

ON = "\x1b[?1000h\x1b[?1006h"
OFF = "\x1b[?1006l\x1b[?1000l"
