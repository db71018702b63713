"""The option by which a verb sends the prompt of a template."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from agentdash.sessions.model.errors import AgentdashError, UsageError
from agentdash.tui.cli.commands.setting_up.config import settings_in

if TYPE_CHECKING:
    from agentdash.sessions.rules.launch import Start
    from agentdash.sessions.service.reader import SessionReader


def complete_templates(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the templates that begin with ``incomplete``."""
    with suppress(AgentdashError):
        return [name for name in settings_in("").config.templates if name.startswith(incomplete)]
    return []


template_option = click.option(
    "--template",
    metavar="NAME",
    shell_complete=complete_templates,
    help="Send [templates.NAME] with its fields filled in.",
)


def without_prompt(words: Sequence[str]) -> str:
    """Return the empty prompt of a command line with a template.

    Raises:
        UsageError: there is a prompt too.
    """
    if words:
        raise UsageError("Use either --template or a PROMPT.")
    return ""


def from_template(reader: "SessionReader", name: str, start: "Start", preset: str | None) -> "Start":
    """Return a start with the prompt of a template, and with the id that the template may name.

    Raises:
        UsageError: there is no such template or preset, a field has no value, or copies would share one id.
    """
    import uuid

    from msgspec import structs

    from agentdash.sessions.service.lifecycle.starts.launch_plan import completed
    from agentdash.sessions.service.prompts.filling import filled_for_start
    from agentdash.sessions.settings.sections import preset_named, template_named

    config = reader.settings.in_folder(start.cwd).config
    template = template_named(config.templates, name)
    known = structs.replace(start, prompt=template.text, session_id=start.session_id or str(uuid.uuid4()))
    if preset is not None:
        known = preset_named(config.presets, preset).completing(known, config.default_agent)
    if "id" in template.fields and (known.copies or 1) > 1:
        raise UsageError(f"Template {name} has the field {{id}}, and copies have different ids.")
    prompt = filled_for_start(name, template, completed(known, config))
    return structs.replace(start, prompt=prompt, session_id=known.session_id)
