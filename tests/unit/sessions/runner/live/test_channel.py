"""The standard input of a live agent: each line arrives whole, or not at all."""

import os
import random
import subprocess
import sys

import pytest
from repetition import SEED, repeated

from agentdash.sessions.runner.live.channel import MOST_BYTES, Channel, LineTooLongError, make_fifo

WRITER = """
import sys
from pathlib import Path
from agentdash.sessions.runner.live.channel import Channel
channel, size, n = Channel(Path(sys.argv[1])), int(sys.argv[2]), 0
while True:
    if channel.write(b"%010d" % n + b"x" * (size - 11) + b"\\n"):
        n += 1
        print(n, flush=True)
"""


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / "stdin"
    make_fifo(path)
    return path


@pytest.fixture
def channel(fifo):
    channel = Channel(fifo)
    yield channel
    channel.close()


def read(fifo, size=1 << 20):
    """Read what is there, as an agent does."""
    descriptor = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(descriptor, size)
    finally:
        os.close(descriptor)


def test_a_line_is_written_only_when_the_one_before_was_read(channel, fifo):
    assert channel.write(b"one\n")
    assert not channel.write(b"two\n")
    assert read(fifo, 2) == b"on"
    assert not channel.write(b"two\n")
    assert read(fifo) == b"e\n"
    assert channel.write(b"two\n")
    assert (channel.unread, read(fifo), channel.unread) == (4, b"two\n", 0)


@pytest.mark.parametrize("size", [2_000, 65_536, 65_537, 300_000, MOST_BYTES])
def test_a_long_line_fits_as_a_whole(channel, fifo, size):
    line = b"x" * (size - 1) + b"\n"
    assert channel.write(line)
    assert channel.unread == size
    assert channel.drain() == line
    assert channel.unread == 0


def test_a_line_that_can_never_fit_is_refused_and_nothing_of_it_is_written(channel):
    with pytest.raises(LineTooLongError, match="1,048,577 bytes"):
        channel.write(b"x" * (MOST_BYTES + 1))
    assert channel.unread == 0


def test_the_fifo_of_a_session_is_made_once_and_is_private(fifo):
    make_fifo(fifo)
    assert fifo.stat().st_mode & 0o777 == 0o600


def test_another_file_with_the_name_of_the_fifo_is_an_error(tmp_path):
    (tmp_path / "stdin").write_text("")
    with pytest.raises(FileExistsError):
        make_fifo(tmp_path / "stdin")


@pytest.mark.torture
@pytest.mark.parametrize("size", [2_000, 60_000, 300_000, 1_000_000])
def test_no_line_is_torn_when_its_writer_is_killed(channel, fifo, size):
    dice = random.Random(f"{SEED} {size}")
    for _ in range(repeated(2, 50)):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(fifo), str(size)], stdout=subprocess.PIPE)
        received, enough = b"", dice.randint(size, 12 * size)
        while len(received) < enough:
            try:
                received += read(fifo, dice.choice([4_096, 30_000, 65_536]))
            except BlockingIOError:
                continue
        writer.kill()
        writer.communicate()
        received += channel.drain()
        lines = received.split(b"\n")
        assert lines.pop() == b""
        assert {len(line) for line in lines} == {size - 1}
        assert [int(line[:10]) for line in lines] == list(range(len(lines)))
