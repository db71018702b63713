"""The byte that wakes a runner."""

import os

from agentdash.sessions.runner import runner_process


def test_a_poke_reaches_a_runner_and_only_a_runner(tmp_path):
    fifo = tmp_path / "poke"
    assert not runner_process.poke(fifo)
    os.mkfifo(fifo)
    assert not runner_process.poke(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert runner_process.poke(fifo)
    assert os.read(reader, 10) == b"!"
    os.close(reader)


def test_a_runner_that_ends_while_it_is_poked_is_not_there(tmp_path, monkeypatch):
    fifo = tmp_path / "poke"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    opened = os.open

    def open_then_end(*args):
        descriptor = opened(*args)
        os.close(reader)
        return descriptor

    monkeypatch.setattr(os, "open", open_then_end)
    assert not runner_process.poke(fifo)
