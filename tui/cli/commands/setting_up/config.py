"""The verbs of the settings: the file and the values in force, and the keys, presets and templates that it defines."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentdash.sessions.model.errors import AgentdashError, ConfigError, UsageError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.exit_codes import FAILED
from agentdash.tui.cli.verb_group import SuggestingGroup

if TYPE_CHECKING:
    from agentdash.sessions.settings.config import Loaded
    from agentdash.sessions.settings.source import Source


@click.group(cls=SuggestingGroup, no_args_is_help=False)
def config() -> None:
    """Show, check and edit the settings."""


@config.command("path")
@common.json_option
def config_path(as_json: bool) -> None:
    """Print the path of the settings file."""
    from agentdash.sessions.settings.place import config_path

    path = config_path()
    common.print_one({"path": str(path), "exists": path.exists()}, str(path), as_json=as_json, painted=False)


@config.command("show")
@common.json_option
def config_show(as_json: bool) -> None:
    """Print all effective settings as TOML."""
    from agentdash.sessions.settings.config import as_toml, in_force, read_settings

    loaded = read_settings()
    settings = in_force(loaded.config)
    if as_json:
        from msgspec import to_builtins

        common.print_json(to_builtins(settings))
    else:
        common.print_lines([as_toml(settings).rstrip()], painted=False)


@config.command("list")
@click.option("--project", metavar="PATH", type=click.Path(), help="Settings of a start in this folder.")
@click.option("--cwd", "here", is_flag=True, help="Settings of a start in the current folder.")
@common.json_option
def config_list(project: str | None, here: bool, as_json: bool) -> None:
    """List settings with values, sources and descriptions.

    With --project or --cwd, the list includes those of a trusted project.  The source (forced) marks your own value in
    place of a project's that would widen it.
    """
    from agentdash.sessions.settings.config import read_settings
    from agentdash.sessions.settings.effective import held
    from agentdash.sessions.text.sanitize import clean
    from agentdash.tui.render.setup.settings import held_json, settings_lines

    if project is not None and here:
        raise UsageError("Give one of: --project PATH, --cwd.")
    loaded = read_settings() if project is None and not here else settings_in(project or "")
    listed = list(held(loaded))
    for note in loaded.notes:
        common.notice(clean(note))
    if as_json:
        common.print_json([held_json(one) for one in listed])
    else:
        common.print_lines(settings_lines(listed, common.style()))


def settings_in(folder: str) -> "Loaded":
    """Return the settings of a start in a folder ("" for the current one).

    Raises:
        UsageError: there is no such folder.
    """
    from agentdash.sessions.service.lifecycle.starts.launch_plan import checked_folder
    from agentdash.sessions.service.projects.review import in_folder
    from agentdash.sessions.settings.config import read_settings
    from agentdash.sessions.storage.paths import default_home

    return in_folder(read_settings(), checked_folder(folder or None), default_home())


def complete_keys(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the keys of settings that begin with ``incomplete``."""
    from agentdash.sessions.settings.config import read_settings
    from agentdash.sessions.settings.effective import held

    with suppress(AgentdashError):
        return [one.setting.key for one in held(read_settings()) if one.setting.key.startswith(incomplete)]
    return []


@config.command("get")
@common.json_option
@click.argument("key", shell_complete=complete_keys)
def config_get(key: str, as_json: bool) -> int:
    """Print the value of a setting or a table.

    Exits 1 if it is not set.

    For example: agentdash config get agents.codex.sandbox
    """
    value = _value(key)
    if as_json:
        common.print_json(value)
    elif value is not None:
        common.print_lines([_plain(value)], painted=False)
    return FAILED if value is None else 0


@config.command("check")
@common.json_option
def config_check(as_json: bool) -> None:
    """Check the settings file and its profiles.

    Each fault is named with file, line and key (exit code 2).
    """
    path, profiles = _checked()
    record = {"path": str(path), "exists": path.exists(), "ok": True, "profiles": profiles}
    under = f", profiles ok: {', '.join(profiles)}" if profiles else ""
    words = f"{path}: ok{under}" if path.exists() else f"{path} does not exist, using defaults"
    common.print_one(record, words, as_json=as_json, painted=False)


@config.command("init")
@common.json_option
def config_init(as_json: bool) -> None:
    """Create a settings file with every setting commented out."""
    from agentdash.sessions.service.families.enclosing import check_user
    from agentdash.sessions.settings.catalog_texts import write_first
    from agentdash.sessions.settings.place import config_path

    check_user("A change of the settings")
    path = config_path()
    write_first(path)
    common.print_one({"path": str(path), "exists": True}, f"wrote {path}", as_json=as_json, painted=False)


@config.command("edit")
@click.argument("key", required=False, shell_complete=complete_keys)
def config_edit(key: str | None) -> int:
    """Edit the settings in $VISUAL or $EDITOR, then check them.

    With KEY, open the file at that setting.  If there is no file, create one with every setting commented out.
    """
    import os

    from agentdash.sessions.service.families.enclosing import check_user
    from agentdash.sessions.settings.catalog_texts import write_first
    from agentdash.sessions.settings.place import config_path
    from agentdash.tui.services.pager_editor import at_line, editor, run

    check_user("A change of the settings")
    argv = editor(os.environ)
    if argv is None:
        raise UsageError("No editor: set VISUAL or EDITOR.")
    path = config_path()
    if not path.exists():
        write_first(path)
    try:
        code = run(at_line(argv, path, _line(path, key) if key else None))
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot run the editor {argv[0]}: {error}.") from None
    _checked()
    common.print_lines([f"{path}: ok"], err=True, painted=False)
    return FAILED if code else 0


@config.command("docs")
def config_docs() -> None:
    """Print the settings reference as Markdown."""
    from agentdash.sessions.settings.catalog_texts import page

    common.print_lines([page().rstrip("\n")], painted=False)


@config.command("presets")
@common.json_option
def config_presets(as_json: bool) -> None:
    """List the presets for spawn --preset.

    The list includes those of the current folder's project.
    """
    from agentdash.sessions.settings.place import config_path

    presets = settings_in("").config.presets
    if as_json:
        from msgspec import to_builtins

        common.print_json([{"name": name, **to_builtins(preset)} for name, preset in presets.items()])
        return
    from agentdash.tui.render.setup.settings import preset_lines

    common.say_on(
        preset_lines(presets, common.style()), otherwise=f"No presets yet. Add [presets.NAME] to {config_path()}."
    )


@config.command("templates")
@common.json_option
def config_templates(as_json: bool) -> None:
    """List the templates for inject and spawn --template.

    The list includes those of the current folder's project.
    """
    from agentdash.sessions.settings.place import config_path

    found = settings_in("").config.templates
    if as_json:
        common.print_json([
            {"name": name, "text": one.text, "description": one.description, "fields": sorted(one.fields)}
            for name, one in found.items()
        ])  # fmt: skip
        return
    from agentdash.tui.render.prompts.prompts import template_lines

    common.say_on(
        template_lines(found, common.style()), otherwise=f"No templates yet. Add [templates.NAME] to {config_path()}."
    )


@config.command("keys")
@common.json_option
def config_keys(as_json: bool) -> None:
    """List the keys of the dashboard.

    Prints the name of each action, its keys and its description.  [keys] in the settings and the dashboard's command
    line use the same names.
    """
    from agentdash.sessions.settings.config import read_settings
    from agentdash.tui.keys.actions import REGISTRY
    from agentdash.tui.keys.key_names import shown
    from agentdash.tui.keys.keymap import keys_in_force

    keymap = keys_in_force(read_settings())
    listed = [(action, list(map(keymap.shown, keymap.keys(action)))) for action in REGISTRY.values()]
    if as_json:
        common.print_json([
            {
                "action": action.id, "keys": keys, "default": list(map(shown, action.named)),
                "where": sorted(action.where), "help": action.help, "fixed": action.fixed, "changes": action.changes,
            }
            for action, keys in listed
        ])  # fmt: skip
    else:
        width = max(len(action.id) for action, _ in listed)
        common.print_lines(
            [f"{action.id:<{width}}  {' '.join(keys) or '-':<15}  {action.help}" for action, keys in listed]
        )


def complete_presets(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the presets that begin with ``incomplete``."""
    with suppress(AgentdashError):
        return [name for name in settings_in("").config.presets if name.startswith(incomplete)]
    return []


def complete_profiles(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the profiles that begin with ``incomplete``."""
    from agentdash.sessions.settings.config import read_settings

    with suppress(AgentdashError):
        return [name for name in read_settings(profile="").profiles if name.startswith(incomplete)]
    return []


def _value(key: str) -> Any:
    """Return the value in force of a key or of a table.

    Raises:
        UsageError: there is no such key.
    """
    from agentdash.sessions.settings.catalog import setting_named
    from agentdash.sessions.settings.config import read_settings
    from agentdash.sessions.settings.effective import held_at, values_of
    from agentdash.sessions.settings.toml_keys import parts, value_at

    loaded = read_settings()
    value = value_at(values_of(loaded), parts(key))
    return held_at(loaded, setting_named(key)).value if value is None else value


def _plain(value: Any) -> str:
    """Return a value as text: a string cleaned, a table as TOML, anything else as a TOML value."""
    from agentdash.sessions.agents.codex.own_config import toml_value
    from agentdash.sessions.settings.config import tables_as_toml
    from agentdash.sessions.text.sanitize import clean

    if isinstance(value, str):
        return clean(value)
    return tables_as_toml(value).rstrip() if isinstance(value, dict) else toml_value(value)


def _line(path: Path, key: str) -> int:
    from agentdash.sessions.settings.catalog import setting_named
    from agentdash.sessions.settings.toml_keys import parts, place_of

    setting_named(key)
    return place_of(path.read_text(encoding="utf-8", errors="replace"), parts(key))


def _checked() -> tuple[Path, list[str]]:
    """Return the settings file and its profiles, after a check.

    Raises:
        ConfigError: the file cannot be used, without a profile or under one; has a line for each fault.
    """
    from agentdash.sessions.settings.config import settings_of
    from agentdash.sessions.settings.place import config_path
    from agentdash.sessions.settings.prices import check_prices
    from agentdash.sessions.settings.source import faults
    from agentdash.tui.keys.keymap import check_keys

    profiles: list[str] = []

    def check(source: "Source") -> None:
        loaded = settings_of(source)
        check_keys(loaded)
        check_prices(loaded)
        profiles[:] = loaded.profiles

    path = config_path()
    if found := faults(path, check):
        raise ConfigError("\n".join(map(str, found)), found[0].line)
    return path, profiles
