"""The verb keys: show the dashboard's keys, and the names by which the settings change them."""

import click

from .. import common


@click.command()
@common.json_option
def keys(as_json: bool) -> None:
    """List the keys of the dashboard.

    Prints the name of each action, its keys and its description.  [keys] in the settings and the dashboard's command
    line use the same names.
    """
    from .....sessions.settings.config import read_settings
    from ....keys.actions import REGISTRY
    from ....keys.key_names import shown
    from ....keys.keymap import keys_in_force

    keymap = keys_in_force(read_settings())
    listed = [(action, list(map(shown, keymap.keys(action)))) for action in REGISTRY.values()]
    if as_json:
        common.print_json([
            {
                "action": action.id, "keys": keys, "default": list(map(shown, action.keys.split(","))),
                "where": sorted(action.where), "help": action.help, "fixed": action.fixed, "changes": action.changes,
            }
            for action, keys in listed
        ])  # fmt: skip
    else:
        width = max(len(action.id) for action, _ in listed)
        common.print_lines(
            [f"{action.id:<{width}}  {' '.join(keys) or '-':<15}  {action.help}" for action, keys in listed]
        )
