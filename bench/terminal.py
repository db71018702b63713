"""A program in a pseudo-terminal: its output, the timing and the CPU cost."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Sequence

TICKS = os.sysconf("SC_CLK_TCK")


class Terminal:
    """A pseudo-terminal of 160 by 45 cells that keeps the program's whole output."""

    def __init__(self, argv: Sequence[str], env: dict[str, str] | None = None) -> None:
        self.written = bytearray()
        self._master, slave = pty.openpty()
        self._set_size(160)
        settings = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8", **(env or {})}
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            list(argv), stdin=slave, stdout=slave, stderr=slave, env=inherited | settings, start_new_session=True
        )
        os.close(slave)

    def read(self, seconds: float) -> int:
        """Read for ``seconds``; return the number of bytes."""
        before, deadline = len(self.written), time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            if self._has_more(left):
                self._take()
        return len(self.written) - before

    def until(self, text: str, timeout: float = 30.0, *, since: int | None = None) -> float:
        """Read until the program writes ``text``; return the moment (``perf_counter``).

        Only output after this call counts, or after the first ``since`` bytes.

        Raises:
            TimeoutError: the text was not written within ``timeout``.
        """
        start, deadline = len(self.written) if since is None else since, time.perf_counter() + timeout
        while text.encode() not in self.written[max(0, start - len(text)) :]:
            if time.perf_counter() > deadline:
                raise TimeoutError(f"{text!r} never came; the last bytes are {bytes(self.written[-1000:])!r}")
            if self._has_more(0.1):
                self._take()
        return time.perf_counter()

    def until_quiet(self, seconds: float = 0.05, timeout: float = 30.0) -> tuple[float, float, int]:
        """Read until nothing comes for ``seconds``; return the times of the first and last byte, and the byte count.

        Raises:
            TimeoutError: no byte came within ``timeout``.
        """
        start, first, last = len(self.written), None, time.perf_counter()
        while self.process.poll() is None and self._has_more(timeout if first is None else seconds):
            last = time.perf_counter()
            first = first or last
            self._take()
        if first is None:
            raise TimeoutError(f"nothing came within {timeout} s")
        return first, last, len(self.written) - start

    def _has_more(self, seconds: float) -> bool:
        return bool(select.select([self._master], [], [], seconds)[0])

    def press(self, keys: str) -> None:
        """Send keys."""
        os.write(self._master, keys.encode())

    def resize(self, columns: int) -> None:
        """Set the width in cells, and notify the program."""
        self._set_size(columns)
        self.process.send_signal(signal.SIGWINCH)

    def _set_size(self, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 45, columns, 0, 0))

    def cpu_ms(self) -> float:
        """Return the CPU milliseconds that the program itself has used so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS * 1000

    def close(self) -> None:
        """End the program."""
        self.process.send_signal(signal.SIGTERM)
        deadline = time.perf_counter() + 10
        while self.process.poll() is None and time.perf_counter() < deadline:
            if self._has_more(0.05):
                self._take()
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _take(self) -> None:
        try:
            self.written += os.read(self._master, 65536)
        except OSError:
            time.sleep(0.01)  # the program has closed the terminal
