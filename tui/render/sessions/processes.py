"""The processes of a session as a tree."""

from collections.abc import Iterator, Sequence

from agentdash.sessions.service.lifecycle.process_list import ProcessInfo
from agentdash.sessions.text.units import duration, size
from agentdash.tui.render.style import Style
from agentdash.widgets.drawing.short_forms import command


def processes_text(processes: Sequence[ProcessInfo], style: Style) -> Iterator[str]:
    """Yield one line per process, children indented below their parents, and a last line with the sums."""
    if not processes:
        yield "No processes running."
        return
    yield style.paint("    pid     cpu      mem  process", "dim")
    depths: dict[int, int] = {}
    for process in processes:
        depth = depths[process.pid] = depths.get(process.parent, -1) + 1
        ports = "".join(f":{port} " for port in process.ports)
        name = command(process.command, max(12, style.width - 26 - 2 * depth - len(ports)))
        yield f"{process.pid:>7}  {_cpu(process.cpu_s):>6}  {_mem(process.rss_bytes):>7}  {'  ' * depth}{ports}{name}"
    cpu = sum(process.cpu_s or 0 for process in processes)
    rss = sum(process.rss_bytes or 0 for process in processes)
    yield style.paint(f"{len(processes):>7}  {_cpu(cpu):>6}  {_mem(rss):>7}  total", "dim")


def _cpu(seconds: float | None) -> str:
    return "?" if seconds is None else duration(round(seconds * 1000))


def _mem(value: int | None) -> str:
    return "?" if value is None else size(value)
