"""Whose a Ctrl+C was is known by when it came, however late the watchdog hears of it."""

import signal
import subprocess
import sys

import pytest

LATE = """
import os, signal, sys, threading
from agentdash.tui.terminal import watchdog

late, begin = [], threading.Thread.start
threading.Thread.start = lambda thread: late.append(thread)
dog = watchdog.guard()
threading.Thread.start = begin
dog.attend(os.open(os.devnull, os.O_RDWR), lambda: None, lambda: None)
with watchdog.deaf(signal.SIGINT):
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
for name in sys.argv[2:]:
    os.kill(os.getpid(), getattr(signal, name))
begin(late[0])
threading.Event().wait()
"""
"""Gets one signal while another program has the terminal and others after it, and hears of all of them afterwards."""


@pytest.mark.parametrize(
    ("meanwhile", "afterwards", "ends_as_by"),
    [
        ("SIGINT", ["SIGTERM"], signal.SIGTERM),
        ("SIGINT", ["SIGINT", "SIGTERM"], signal.SIGINT),
        ("SIGHUP", ["SIGINT"], signal.SIGHUP),
    ],
)
def test_the_interrupt_of_another_program_ends_nothing_of_ours(meanwhile, afterwards, ends_as_by):
    done = subprocess.run([sys.executable, "-c", LATE, meanwhile, *afterwards], check=False, timeout=60)
    assert done.returncode == 128 + ends_as_by
