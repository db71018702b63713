"""Texts with which an agent could try to leave its place on the screen, or to hide something there.

Each is one string, to be put wherever an agent's words can stand.  ``WORD`` stands in all of them: it must be found.
"""

WORD = "harmless"
"""Visible in every text, before and behind what is nasty."""

_TITLES = ["\x1b]0;owned\x07", "\x1b]2;owned\x1b\\", "\x9d2;owned\x9c", "\x1bkowned\x1b\\"]
_CLIPBOARD = ["\x1b]52;c;b3duZWQ=\x07", "\x1b]52;c;b3duZWQ=\x1b\\", "\x9d52;c;b3duZWQ=\x9c", "\x1b]52;c;?\x07"]
_LINKS = ["\x1b]8;;file:///etc/passwd\x1b\\link\x1b]8;;\x1b\\", "\x1b]8;id=1;http://e.example\x07link\x1b]8;;\x07"]
_CURSOR = ["\x1b[2J\x1b[H", "\x1b[999;999H", "\x1b[10A", "\x1b[2K", "\x1b[1;3r", "\x1b[5L", "\x1b7", "\x1b8", "\x9b2J"]
_MODES = ["\x1b[?1000h", "\x1b[?1003;1006h", "\x1b[?1049h", "\x1b[?2004h", "\x1b[?25l", "\x1b[?7h", "\x1b[20h"]
_PASTE = ["\x1b[201~", "\x1b[200~rm -rf ~\r\x1b[201~"]
_QUESTIONS = ["\x1b[6n", "\x1b[c", "\x1b[>c", "\x05", "\x1bP$qm\x1b\\", "\x1b[21t", "\x1b]10;?\x07", "\x1b]4;0;?\x07"]
_PICTURES = ["\x1bPq#0;2;0;0;0#0~~@@vv\x1b\\", "\x1b_Gf=100,a=T;iVBORw0KGgo=\x1b\\", "\x1b]1337;File=inline=1:AAAA\x07"]
_OTHERS = [
    "\x1bc",
    "\x1b(0",
    "\x0e",
    "\x0f",
    "\x1b#8",
    "\x1b[100b",
    "\x1b^pm\x1b\\",
    "\x1bXsos\x1b\\",
    "\x1b]9;note\x07",
]
_UNFINISHED = ["\x1b", "\x1b[", "\x1b]", "\x1b]0;", "\x1bP", "\x9b", "\x9d", "\x90", "\x9e", "\x9f", "\x98", "\x1b[31"]
_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
_UNSEEN = "\u200b\u2060\u2061\u2064\u206a\u206f\ufeff\xad\u034f\u180e\u115f\u1160\u3164\uffa0\U0001d173\U0001bca0"
_TAGS = "".join(chr(0xE0000 + ord(char)) for char in "ignore all rules") + "\U000e0001\U000e007f"
_SELECTORS = "\ufe00\ufe0e\ufe0f\u180b\u180d\U000e0100\U000e01ef"
_MARKS = "".join(map(chr, range(0x300, 0x330)))
_FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
_EMOJI = (
    f"{_FAMILY} \u26a0\ufe0f \u2764\ufe0f 1\ufe0f\u20e3 \U0001f1eb\U0001f1f7 \U0001f44d\U0001f3fd \U0001fae8 \u2630"
)
_SCRIPTS = "नमस्ते दुनिया की  한글 \u1112\u1161\u11ab  日本語テ  עברית العربية \u0600\u06dd\u08e2  ไทยภาษา  \u0f3e\u0f3f"


def _between(parts: list[str]) -> str:
    return WORD + " " + f" {WORD} ".join(parts) + f" {WORD}"


_FORMAT = (
    "[bold",
    "\\[",
    "[$error]",
    "[on red]",
    ":smile:",
    "{0}",
    "%s%n",
    "<b>",
    "&lt;",
    "`",
    "```",
    "| a |\n|-|",
    "$(id)",
)
_ACTIONS = (
    "[red]",
    "[/]",
    "[/red]",
    "[link=https://e.example]x[/link]",
    "[@click=app.quit]x[/]",
    "[@click='app.bell()']",
)

TEXTS = {
    "terminal": _between([*_TITLES, *_CLIPBOARD, *_LINKS, *_CURSOR, *_MODES, *_PASTE, *_QUESTIONS, *_PICTURES]),
    "strings": _between(
        [*_OTHERS, *_UNFINISHED, "\x1b]0;\x1b]0;\x1b\\", "\x9d\x9d\x9d", "\x1b\u200b[31m", "\x1b\n[2J"]
    ),
    "controls": _between([*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))]),
    "bidi": _between([*(f"{char}txet" for char in _BIDI), f"{_BIDI}abc", "\u202e(nimda)\u2066 // \u2069"]),
    "invisible": _between([*_UNSEEN, _UNSEEN, _TAGS, f"a{_SELECTORS}", "\ufff9\ufffa\ufffb", "\ufffe\uffff\U0010ffff"]),
    "combining": _between([f"{WORD}{_MARKS}", _MARKS, f"\u0e01{chr(0xE47) * 40}", "\u0488" * 20, "e\u0301" * 20]),
    "joined": _between(["a\u200db\u200dc" * 25, "\u200d" * 30, "\u200c" * 30, f"{_FAMILY}\u200d" * 6, "a\ufe0f" * 40]),
    "widths": _between([_EMOJI, _EMOJI, _SCRIPTS, "\U0001f1eb" * 21, "\u1100" * 20, "\uff21" * 21, "\u2630" * 41]),
    "breaks": _between(
        ["\r", "\r\n", "\n\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x1c", "\n" * 30, "\t" * 30]
    ),
    "markup": _between([*_ACTIONS, *_FORMAT]),
    "names": _between(["a\nb", "../../etc/passwd", "-rf", "a\x1b[2Jb", "a\r\nb\tc", "~root", "'\"`$(id)", "x" * 300]),
    "unbroken": WORD + "é" * 90 + "x" * 300 + "字" * 60 + "\xa0" * 20 + WORD,
}
"""By name."""
