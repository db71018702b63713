"""Writing to a terminal that went away."""

import io

from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from agentdash.tui.terminal.driver import LastingFile


class GoneTerminal(io.StringIO):
    """Takes some texts, and then none."""

    def __init__(self, takes: int) -> None:
        super().__init__()
        self._takes = takes
        self.refused = 0

    def write(self, text: str) -> int:
        if self._takes == 0:
            self.refused += 1
            raise OSError(5, "Input/output error")
        self._takes -= 1
        return super().write(text)


def test_the_app_never_waits_for_a_terminal_that_went_away():
    terminal = GoneTerminal(takes=2)
    writer = WriterThread(LastingFile(terminal))
    writer.start()
    for number in range(3 * MAX_QUEUED_WRITES):
        assert writer.is_alive()
        writer._queue.put(f"{number} ", timeout=60)
    writer.stop()
    assert terminal.getvalue() == "0 1 "
    assert terminal.refused == 3 * MAX_QUEUED_WRITES - 2
