"""Writes the small files: ``python -m hostile.make`` in the folder of the tests."""

from collections.abc import Iterator
from pathlib import Path

from hostile.streams import EVENTS, odd_lines, stream
from hostile.texts import TEXTS

FILES = Path(__file__).parent / "files"


def contents() -> Iterator[tuple[str, bytes]]:
    """Name and content of every small file."""
    for name, text in TEXTS.items():
        for agent in (*EVENTS, "command"):
            yield f"{agent}-{name}.jsonl", stream(agent, text)
    yield "odd-lines.jsonl", b"\n".join(odd_lines())


def files() -> list[Path]:
    """The files as they are kept."""
    return sorted(FILES.glob("*.jsonl"))


def agent_of(path: Path) -> str | None:
    """The agent whose stream a file is; None if it is of no agent."""
    name = path.name.partition("-")[0]
    return name if name in (*EVENTS, "command") else None


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    for file_name, data in contents():
        (FILES / file_name).write_bytes(data)
