"""Verbs of the command line in the test's own process: for tests of what a verb says, not of how its process ends."""

import io
import subprocess
import sys

import pytest

from agentdash.tui.cli.main import run


def verb(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run one command line with nothing on its stdin; its exit code and what it printed into pipes."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for name in ("stdin", "stdout", "stderr")}
    with pytest.MonkeyPatch.context() as patch:
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        for name, value in environment.items():
            patch.setenv(name, value)
        code = run(words)
    out, err = (_printed(streams[name]) for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess(words, code, out, err)


def _printed(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
