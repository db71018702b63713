"""Settings as lines: what holds, where it comes from, what it does."""

from collections.abc import Iterator, Sequence
from typing import Any

from ...sessions.agents.toml_values import toml_value
from ...sessions.presets import Preset
from ...sessions.settings_docs import default_text
from ...sessions.settings_values import Held
from ...sessions.text import cut, one_line, pad
from .look import Look


def value_text(one: Held) -> str:
    """The value as the file would say it; what holds instead, where nothing is set."""
    if one.value is None:
        words = one.setting.default_words
        return f"({words})" if words else "(not set)"
    return one_line(toml_value(one.value))


def settings_lines(listed: Sequence[Held], look: Look) -> Iterator[str]:
    """One line each: key, value, origin, description."""
    keys = max(len(one.setting.key) for one in listed)
    values = max(len(_short(one)) for one in listed)
    origins = max(len(str(one.origin)) for one in listed)
    for one in listed:
        role = "dim" if one.origin.kind == "default" else "strong"
        head = f"{pad(one.setting.key, keys)}  {pad(_short(one), values)}"
        tail = f"  {pad(str(one.origin), origins)}  {one.setting.description}"
        if look.colour:
            room = max(0, look.width - keys - values - 4)
            yield f"{look.paint(head, role)}{look.paint(cut(tail, room), 'dim')}"
        else:
            yield head + tail


def preset_lines(presets: dict[str, Preset], look: Look) -> Iterator[str]:
    """One line each: name, what it starts, and what it says."""
    width = max(map(len, presets), default=0)
    for name, preset in presets.items():
        copies = f"x{preset.copies}" if preset.copies > 1 else None
        parts = filter(None, (preset.agent, preset.model, preset.cwd, copies))
        what = filter(None, (one_line(" ".join(parts)), one_line(preset.prompt, 80)))
        yield "  ".join((look.paint(pad(one_line(name), width), "strong"), *what))


def held_json(one: Held) -> dict[str, Any]:
    """One setting for programs."""
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


_VALUE_CELLS = 32


def _short(one: Held) -> str:
    return cut(value_text(one), _VALUE_CELLS)
