"""Presets: named starts in the settings that the user runs repeatedly, with a different text each time."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, field, structs

from ..errors import UsageError
from ..launch import Start
from ..rules.limits.limits import Limits
from .merge import merged

PLACE = "{prompt}"
"""The placeholder for the text of one start in a preset's prompt; without it, the text follows the prompt."""

MOST_COPIES = 100


class Preset(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[presets.NAME]``: the start that ``spawn --preset NAME`` makes, unless its own options override it."""

    agent: Annotated[
        str | None,
        Meta(description="Agent to start.", examples=["codex"], extra={"default": "default_agent"}),
    ] = None
    model: Annotated[str | None, Meta(description="Model to request.", extra={"default": "the agent's own"})] = None
    cwd: Annotated[
        str | None,
        Meta(
            description="Working folder; a relative path starts at the current folder.",
            examples=["~/code/api"],
            extra={"default": "the current folder"},
        ),
    ] = None
    prompt: Annotated[
        str,
        Meta(
            description="Prompt; the text given at the start replaces {prompt} in it, or is appended.",
            examples=["Review {prompt}. Change nothing."],
        ),
    ] = ""
    options: Annotated[
        dict[str, Any],
        Meta(
            description="Keys of the agent's section, e.g. sandbox or permission_mode.",
            examples=[{"sandbox": "read-only"}],
        ),
    ] = field(default_factory=dict)
    limits: Limits = Limits()
    copies: Annotated[int, Meta(ge=1, le=MOST_COPIES, description="Number of copies to start.")] = 1

    @property
    def wants_text(self) -> bool:
        """True if its prompt is incomplete without a text."""
        return PLACE in self.prompt or not self.prompt.strip()

    def frame(self) -> tuple[str, str]:
        """Return the parts of the prompt before and after the text of a start."""
        before, place, after = self.prompt.partition(PLACE)
        return (before, after) if place else (f"{before.rstrip()}\n\n" if before.strip() else "", "")

    def prompt_with(self, text: str) -> str:
        """Return the whole prompt with the text of one start; the bare prompt if the text is blank."""
        if not text.strip():
            return "".join(self.frame()).strip()
        if PLACE in self.prompt:
            return self.prompt.replace(PLACE, text)
        return f"{self.frame()[0]}{text}"

    def text_in(self, prompt: str) -> str:
        """Return the text of one start in a prompt made by :meth:`prompt_with`; all of a prompt that was rewritten."""
        before, after = (part.strip() for part in self.frame())
        if len(prompt) < len(before) + len(after) or not (prompt.startswith(before) and prompt.endswith(after)):
            return prompt
        return prompt[len(before) : len(prompt) - len(after)].strip()

    def all_options(self) -> dict[str, Any]:
        """Return its options including its limits, as a start takes them."""
        limits = {key: value for key, value in structs.asdict(self.limits).items() if value is not None}
        stated = self.options.get("limits")
        merged = {**stated, **limits} if isinstance(stated, Mapping) else limits
        return self.options | ({"limits": merged} if limits else {})

    def completing(self, start: Start, default_agent: str) -> Start:
        """Complete the start with this preset; the start's own values win.

        An agent other than the preset's takes its prompt, folder and limits, but neither its model nor its options.

        Raises:
            UsageError: the preset is incomplete without a text, and there is none.
        """
        if self.wants_text and not start.prompt.strip():
            raise UsageError("The preset needs a prompt. Pass it as an argument or on stdin.")
        theirs = self.agent or default_agent
        preset = self if start.agent in ("", theirs) else structs.replace(self, model=None, options={})
        return structs.replace(
            start,
            prompt=preset.prompt_with(start.prompt),
            agent=start.agent or theirs,
            model=start.model or preset.model,
            cwd=start.cwd or preset.cwd or "",
            options=merged(preset.all_options(), start.options),
            copies=start.copies or (preset.copies if preset.copies > 1 else None),
        )


def preset_named(presets: Mapping[str, Preset], name: str) -> Preset:
    """Return the preset of this name.

    Raises:
        UsageError: there is none; the message lists the known presets.
    """
    if name in presets:
        return presets[name]
    known = f"Known presets: {', '.join(presets)}." if presets else "The settings have no presets."
    raise UsageError(f"Unknown preset {name!r}. {known}")
