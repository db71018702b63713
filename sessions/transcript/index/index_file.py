"""The saved index of a long turn file, with which its next reader opens it at once.

It is outside of the session's folder, because a reader changes nothing there.  It is only a cache: an index that does
not fit the file, or the code that reads it, is made again.
"""

import sys
import zlib
from collections.abc import Container
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from agentdash.sessions.storage.paths import write_atomic
from agentdash.sessions.transcript.additions import SavedAdditions

WORTH_KEEPING = 4 << 20
"""The smallest turn file with an index, in bytes; a shorter one is read as fast as its index."""

_SAMPLE = 64 * 1024


class SavedIndex(Struct, frozen=True):
    """An index of whole blocks; the arrays are in the machine's byte order."""

    covered: int
    """The offset up to which the index covers the turn file."""
    starts: bytes
    """The offset of each block, 64 bits each; the last one begins after the covered bytes."""
    states: list[bytes]
    """The state of the parser at the beginning of each block."""
    giants: list[int]
    kinds: bytes
    blocks: bytes
    """The block of each step, 32 bits each."""
    additions: SavedAdditions


class _File(Struct, frozen=True):
    made_by: str
    begin: int
    """The offset at which the turn begins in its file."""
    sample: int
    index: SavedIndex


def load(path: Path, output: Path, agent: str, begin: int = 0, end: int | None = None) -> SavedIndex | None:
    """Return the index of a turn; None if it is missing or does not fit.

    Args:
        output: the file with the output of the turn.
        agent: the name of the reader of its format.
        begin: the offset at which the turn begins in it.
        end: the offset at which the turn ends; None for the end of the file.
    """
    try:
        file = msgspec.msgpack.decode(path.read_bytes(), type=_File)
        covered = file.index.covered
        same_part = file.begin == begin <= covered and (end is None or covered <= end)
        fits = same_part and file.made_by == _maker(agent) and file.sample == _sample(output, begin, covered)
    except (OSError, msgspec.MsgspecError):
        return None
    return file.index if fits else None


def save(path: Path, output: Path, agent: str, index: SavedIndex, begin: int = 0) -> None:
    """Save the index of a turn, which begins at an offset in its file, unless it cannot be written."""
    with suppress(OSError):
        file = _File(made_by=_maker(agent), begin=begin, sample=_sample(output, begin, index.covered), index=index)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(path, msgspec.msgpack.encode(file))


def path_of(folder: Path, session_id: str, turn: int) -> Path:
    """Return the path of a turn's index."""
    return folder / f"{session_id}.{turn}.index"


def forget(folder: Path, session_id: str) -> None:
    """Remove the indexes of a session; one that cannot be removed does no harm."""
    for path in folder.glob(f"{session_id}.*.index"):
        with suppress(OSError):
            path.unlink()


def forget_others(folder: Path, sessions: Container[str]) -> None:
    """Remove the indexes of all sessions but these."""
    for path in folder.glob("*.index"):
        if path.name.partition(".")[0] not in sessions:
            with suppress(OSError):
                path.unlink()


def _sample(output: Path, begin: int, covered: int) -> int:
    """Return a checksum of the covered length and of the bytes at both its ends, which differs from file to file.

    Raises:
        OSError: the file is shorter than ``covered``, or cannot be read.
    """
    size = min(_SAMPLE, covered - begin)
    with output.open("rb") as file:
        file.seek(begin)
        head = file.read(size)
        file.seek(covered - size)
        tail = file.read(size)
    if len(tail) < size:
        raise OSError(f"{output} is shorter than {covered} bytes")
    return zlib.crc32(tail, zlib.crc32(head, covered - begin))


_READS = ("agents", "model", "text", "transcript/index", "transcript/visible")
"""The folders whose code makes steps of lines, or lays them out."""


@cache
def _maker(agent: str) -> str:
    """Return an id of the agent and the code that reads it: an index fits only the code that made it."""
    code = zlib.crc32(sys.byteorder.encode())
    sessions = Path(__file__).parents[2]
    modules = [path for room in _READS for path in (sessions / room).rglob("*.py")]
    modules += [*(sessions / "rules").glob("*.py"), sessions / "storage/files/line_reader.py"]
    for module in sorted(modules):
        code = zlib.crc32(module.read_bytes(), code)
    return f"{agent} {code:08x}"
