"""The verb that shows the prices of models, and imports them from a file: prices."""

from pathlib import Path

import click

from .....sessions.errors import UnknownPriceError, UsageError
from .. import common


@click.command()
@click.argument("model", required=False)
@click.option("--import", "file", metavar="FILE", help="Replace the imported prices by those of FILE.")
@common.json_option
def prices(model: str | None, file: str | None, as_json: bool) -> None:
    """Show the prices of models and their origin.

    --import reads a file in the JSON form of models.dev: US dollars per million tokens.  The file that it writes is
    beside the settings; [prices."MODEL"] of the settings wins.  agentdash itself opens no connection.
    """
    if model is not None and file is not None:
        raise UsageError("Give a model or --import, not both.")
    if file is not None:
        _import(file, as_json=as_json)
        return
    from .....sessions.settings.config import load_config
    from .....sessions.settings.prices import entries, entry_of, imported

    own = load_config().prices
    if model is None:
        listed = entries(own, imported())
    else:
        one = entry_of(model, own, imported())
        if one is None:
            raise UnknownPriceError(model)
        listed = [one]
    if as_json:
        common.print_json(listed)
    else:
        from ....render.setup.prices import price_lines

        common.print_lines(price_lines(listed, common.style()))


def _import(file: str, *, as_json: bool) -> None:
    from .....sessions.settings.prices import outdated
    from .....sessions.text.sanitize import one_line
    from .....sessions.text.units import count

    with common.open_manager() as manager:
        found = manager.prices.import_file(Path(file).expanduser())
    if (why := outdated(found)) is not None:
        common.notice(one_line(f"warning: {why}."))
    if as_json:
        common.print_json({"source": found.source, "as_of": found.as_of, "models": len(found.prices)})
    else:
        common.print_lines([f"{count(len(found.prices), 'price')} of {found.as_of} from {one_line(found.source)}"])
