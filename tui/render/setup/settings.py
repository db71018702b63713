"""Settings as lines: value, origin, description."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from agentdash.sessions.agents.codex.own_config import toml_value
from agentdash.sessions.settings.catalog import ENVIRONMENT
from agentdash.sessions.settings.catalog_texts import default_text
from agentdash.sessions.settings.effective import Held
from agentdash.sessions.settings.sections import Preset
from agentdash.sessions.text.sanitize import cell_width, clean, cut, one_line, pad
from agentdash.tui.render.style import Style
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.drawing.spans import Row


def value_text(one: Held) -> str:
    """Return the value as TOML; if it is not set, a description of its default."""
    if one.value is None:
        words = one.setting.default_words
        return f"({words})" if words else "(not set)"
    return one_line(toml_value(one.value))


def settings_lines(listed: Sequence[Held], style: Style) -> Iterator[str]:
    """Yield one line per setting: key, value, origin, description."""
    keys = max(len(one.setting.key) for one in listed)
    values = max(len(_short(one)) for one in listed)
    origins = max(cell_width(one_line(str(one.origin))) for one in listed)
    for one in listed:
        role = "dim" if one.origin.kind == "default" else "strong"
        head = f"{pad(one.setting.key, keys)}  {pad(_short(one), values)}"
        tail = f"  {pad(one_line(str(one.origin)), origins)}  {one.setting.description}"
        if style.colour:
            room = max(0, style.width - keys - values - 4)
            yield f"{style.paint(head, role)}{style.paint(cut(tail, room), 'dim')}"
        else:
            yield head + tail


def preset_lines(presets: dict[str, Preset], style: Style) -> Iterator[str]:
    """Yield one line per preset: name, agent, model, folder, copies and prompt."""
    width = max(map(len, presets), default=0)
    for name, preset in presets.items():
        copies = f"x{preset.copies}" if preset.copies > 1 else None
        parts = filter(None, (preset.agent, preset.model, preset.cwd, copies))
        what = filter(None, (one_line(" ".join(parts)), one_line(preset.prompt, 80)))
        yield "  ".join((style.paint(pad(one_line(name), width), "strong"), *what))


def held_json(one: Held) -> dict[str, Any]:
    """Return one setting as a JSON object."""
    origin = one.origin
    return {
        "key": one.setting.key,
        "value": one.value,
        "origin": origin.kind,
        "path": origin.path,
        "line": origin.line,
        "profile": origin.profile,
        "takes": one.setting.kind,
        "default": one.setting.default,
        "default_words": default_text(one.setting),
        "choices": list(one.setting.choices),
        "description": one.setting.description,
    }


def matches(one: Held, text: str) -> bool:
    """Return whether all words of a filter are in the key, value, origin or description."""
    in_all = f"{one.setting.section} {one.setting.key} {value_text(one)} {one.origin} {one.setting.description}".lower()
    return all(word in in_all for word in text.lower().split())


def drawer(shown: Sequence[Held]) -> list[Callable[[int], list[Row]]]:
    """Return a function per setting that draws its line, with the table's name above the table's first setting."""
    names = max((len(one.setting.path[-1]) for one in shown), default=0)
    firsts = [at == 0 or shown[at - 1].setting.section != one.setting.section for at, one in enumerate(shown)]
    return [partial(_rows, one, first, names) for one, first in zip(shown, firsts, strict=True)]


def _rows(one: Held, first: bool, names: int, width: int) -> list[Row]:
    origin = _origin(one, width)
    name = pad(cut(one.setting.path[-1], width // 2), min(names, width // 2))
    room = max(0, width - cell_width(name) - cell_width(origin) - 6)
    room = min(room, _SCREEN_VALUE_CELLS)
    value = pad(cut(value_text(one), room), room)
    line: Row = (
        (f"  {name}  ", "text"),
        (value, "dim" if one.origin.kind == "default" else "strong"),
        (f"  {origin}" if origin else "", "dim"),
    )
    return [((cut(_heading(one), width), "title"),), line] if first else [line]


def _origin(one: Held, width: int) -> str:
    """Return the origin of a value; if it does not fit, only its line number in the file."""
    if width >= _ORIGIN_FROM:
        return one_line(str(one.origin))
    return "" if one.origin.line is None else f":{one.origin.line}"


def _heading(one: Held) -> str:
    section = one.setting.section
    return section if section == ENVIRONMENT else f"[{section}]" if section else "general"


def about(one: Held) -> str:
    """Return the setting's description, value, origin, type and default."""
    origin = one.origin
    where = f"{place(origin.path)}:{origin.line}" if origin.path is not None else str(origin.kind)
    profile = f", profile {origin.profile}" if origin.profile else ""
    lines = [
        f"{one.setting.key}: {one.setting.description}",
        f"value: {value_text(one)} · source: {where}{profile}",
        f"type: {one.setting.kind} · default: {default_text(one.setting)}",
    ]
    return clean("\n".join(lines))


_ORIGIN_FROM = 60
"""Width in cells from which there is room for the origin of a value."""

_VALUE_CELLS, _SCREEN_VALUE_CELLS = 32, 48


def _short(one: Held) -> str:
    return cut(value_text(one), _VALUE_CELLS)
