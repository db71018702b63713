"""The verb export: write a session as one document, to stdout or to a file."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .....sessions.errors import UsageError
from .. import common

if TYPE_CHECKING:
    from .....sessions.export.formats import Format
    from .....sessions.model import Step

_FORMATS = ("md", "html", "json")


@click.command()
@click.option("--format", "name", type=click.Choice(_FORMATS), help="Default: by file extension, else md.")
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only turn N.")
@click.option("--output", "-o", type=click.Path(), metavar="FILE", help='Output file ("-": stdout).')
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@common.json_option
@common.id_argument
def export(ref: str, name: str | None, turn: int | None, output: str | None, force: bool, as_json: bool) -> None:
    """Export a session as Markdown, HTML or JSON.

    Writes one file that only you can read.  --json describes the file written with -o.
    """
    path = None if output in (None, "-") else Path(output)
    if as_json and path is None:
        raise UsageError("--json describes the written file: add -o FILE, or use --format json.")
    chosen = _format(name, path)
    with common.settled_reader() as reader:
        session = reader.get(ref)
        reader.outputs.check_folder(session)
        steps = _Counted(reader.steps.each_step(session.id, turn))
        pieces = chosen.write(session, steps, reader.turns(session.id), reader.steps.shown(session.id).has_cut)
        if path is None:
            _print(pieces)
            return
        from .....sessions.export.saving import save

        size = save(path, pieces, force=force)
    _tell(path, chosen, steps.count, size, as_json=as_json)


class _Counted:
    """Steps that are counted as they are read."""

    def __init__(self, steps: "Iterable[Step]") -> None:
        self._steps = steps
        self.count = 0

    def __iter__(self) -> "Iterator[Step]":
        for step in self._steps:
            self.count += 1
            yield step


def _format(name: str | None, path: Path | None) -> "Format":
    from .....sessions.export.formats import FORMATS, format_named, format_of

    if name is not None:
        return format_named(name)
    return format_of(path) if path is not None else FORMATS[0]


def _print(pieces: Iterable[str]) -> None:
    """Print in UTF-8 whatever the terminal's encoding is, because the documents declare UTF-8."""
    common.print_pieces(piece.encode("utf-8", "replace") for piece in pieces)


def _tell(path: Path, chosen: "Format", steps: int, size: int, *, as_json: bool) -> None:
    if as_json:
        common.print_json({"path": str(path.absolute()), "format": chosen.name, "steps": steps, "bytes": size})
        return
    from .....sessions.text import units

    common.print_lines(
        [f"wrote {path}: {units.count(steps, 'step')}, {chosen.title}, {units.size(size)}"], painted=False
    )
