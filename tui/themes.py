"""The colours of each role, in five themes.

Each text colour has a contrast of at least 4.5:1 with its background (a test checks this).  The ``safe`` themes
distinguish success, failure and attention by hues that stay different for colour-blind users (after Okabe and Ito);
``terminal`` uses only the sixteen colours that the user chose for the terminal.
"""

from textual.theme import BUILTIN_THEMES, Theme


def _theme(
    name: str,
    *,
    dark: bool,
    ground: str,
    text: str,
    muted: str,
    rule: str,
    running: str,
    attention: str,
    failure: str,
    good: str,
    cursor: str,
    blurred: str,
    source: dict[str, str],
) -> Theme:
    return Theme(
        name=name,
        dark=dark,
        primary=running,
        secondary=muted,
        warning=attention,
        error=failure,
        success=good,
        accent=running,
        foreground=text,
        background=ground,
        surface=ground,
        panel=ground,
        variables={
            "text-primary": running,
            "text-warning": attention,
            "text-error": failure,
            "text-success": good,
            "text-muted": muted,
            "muted": muted,
            "muted-style": "none",
            "rule": rule,
            "border": rule,
            "border-blurred": rule,
            "block-cursor-background": cursor,
            "block-cursor-foreground": text,
            "block-cursor-text-style": "none",
            "cursor-blurred": blurred,
            "input-cursor-background": text,
            "input-cursor-foreground": ground,
            "changed-style": "none",
            **source,
        },
    )


_DARK = {
    "ground": "#101418",
    "text": "#dbe1e8",
    "muted": "#949fab",
    "rule": "#3b4550",
    "cursor": "#27405e",
    "blurred": "#2b3541",
}
_LIGHT = {
    "ground": "#ffffff",
    "text": "#1c2128",
    "muted": "#59626d",
    "rule": "#c3cad2",
    "cursor": "#cfe2fb",
    "blurred": "#e0e5eb",
}
_DARK_SOURCE = {
    "code": "#f0cf9b",
    "code-ground": "#1a2129",
    "keyword": "#d3a8f7",
    "string": "#a3d9a5",
    "number": "#f2b48a",
    "name": "#8cc4ff",
    "hunk": "#7fced6",
    "added": "#8ce0a4",
    "added-ground": "#12291c",
    "added-word-ground": "#1f5233",
    "removed": "#ffaba3",
    "removed-ground": "#331b1e",
    "removed-word-ground": "#6b2b30",
}
_LIGHT_SOURCE = {
    "code": "#7a3f00",
    "code-ground": "#f2f4f7",
    "keyword": "#7a2ba6",
    "string": "#17603a",
    "number": "#8f4100",
    "name": "#0a4fa8",
    "hunk": "#0b5c66",
    "added": "#0f5527",
    "added-ground": "#e4f5e8",
    "added-word-ground": "#b4e6c1",
    "removed": "#8f1420",
    "removed-ground": "#fdebea",
    "removed-word-ground": "#f8c7c4",
}

THEMES = {
    "dark": _theme(
        "agentdash-dark",
        dark=True,
        running="#79b8ff",
        attention="#f2b84b",
        failure="#ff8a80",
        good="#6fd38a",
        source=_DARK_SOURCE,
        **_DARK,
    ),
    "light": _theme(
        "agentdash-light",
        dark=False,
        running="#0a4fa8",
        attention="#7d4a00",
        failure="#a91d2a",
        good="#0f5f2c",
        source=_LIGHT_SOURCE,
        **_LIGHT,
    ),
    "safe-dark": _theme(
        "agentdash-safe-dark",
        dark=True,
        running="#7cc4f5",
        attention="#f0e442",
        failure="#ff9a57",
        good="#35d6b2",
        source=_DARK_SOURCE
        | {
            "added": "#5fd9d9",
            "added-ground": "#0e2a33",
            "added-word-ground": "#14505c",
            "removed": "#ffb07a",
            "removed-ground": "#33210f",
            "removed-word-ground": "#6b4015",
        },
        **_DARK,
    ),
    "safe-light": _theme(
        "agentdash-safe-light",
        dark=False,
        running="#00568a",
        attention="#7a5200",
        failure="#a8006a",
        good="#004d40",
        source=_LIGHT_SOURCE
        | {
            "added": "#004a6b",
            "added-ground": "#e2f1fa",
            "added-word-ground": "#b5dcf2",
            "removed": "#8a3c00",
            "removed-ground": "#fdf0e2",
            "removed-word-ground": "#f9d6ae",
        },
        **_LIGHT,
    ),
    "terminal": Theme(
        name="agentdash-terminal",
        ansi=True,
        primary="ansi_blue",
        secondary="ansi_cyan",
        warning="ansi_yellow",
        error="ansi_red",
        success="ansi_green",
        accent="ansi_blue",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        variables=BUILTIN_THEMES["ansi-dark"].variables
        | {
            "muted": "ansi_default",
            "muted-style": "dim",
            "rule": "ansi_bright_black",
            "border": "ansi_bright_black",
            "block-cursor-background": "ansi_blue",
            "block-cursor-foreground": "ansi_bright_white",
            "block-cursor-text-style": "none",
            "cursor-blurred": "ansi_bright_black",
            "surface-lighten-2": "ansi_default",
            "code": "ansi_cyan",
            "code-ground": "ansi_default",
            "keyword": "ansi_magenta",
            "string": "ansi_green",
            "number": "ansi_yellow",
            "name": "ansi_blue",
            "hunk": "ansi_cyan",
            "added": "ansi_green",
            "added-ground": "ansi_default",
            "added-word-ground": "ansi_default",
            "removed": "ansi_red",
            "removed-ground": "ansi_default",
            "removed-word-ground": "ansi_default",
            "changed-style": "bold underline",
        },
    ),
}
"""The themes, by their names in the settings."""

_WHITE, _BLACK = "#ffffff", "#000000"

PLAIN = _theme(
    "agentdash-plain",
    dark=True,
    ground=_BLACK,
    text=_WHITE,
    muted=_WHITE,
    rule=_WHITE,
    running=_WHITE,
    attention=_WHITE,
    failure=_WHITE,
    good=_WHITE,
    cursor=_WHITE,
    blurred=_BLACK,
    source=dict.fromkeys(_DARK_SOURCE, _WHITE)
    | {name: _BLACK for name in _DARK_SOURCE if name.endswith("ground")}
    | {"muted-style": "dim", "changed-style": "bold underline", "block-cursor-foreground": _BLACK},
)
"""The two colours that a screen without colours has before they are taken from it."""


def after(name: str) -> str:
    """Return the name of the theme after this one, both as Textual names."""
    names = [theme.name for theme in THEMES.values()]
    return names[(names.index(name) + 1) % len(names)] if name in names else names[0]
