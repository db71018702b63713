"""Every benchmark runs to its end, at tiny sizes, and prints its figures; no figure is compared with anything."""

import os
import re
import subprocess
import sys

import pytest
from places import ROOT

BENCH = ROOT / "bench"
PARTS = ("opening", "memory", "keys", "growing", "searching", "beside")
"""What ``viewer.py`` can do one by one."""

NEEDS = {"wire": ("sshd", "ssh", "tmux"), "live_wire": ("sshd", "ssh"), "viewer beside": ("less",)}
TITLES = {
    "admission": ["one start among sessions, ms (medians)"],
    "data_table": ["a table of sessions, 160x45"],
    "events": ["events of sessions", "agentdash status, a process", "agentdash events, a process"],
    "first_paint": ["warm start, medians of 1", "cold start, medians of 1", "keys typed in the first second"],
    "following": ["following a growing turn file"],
    "listing": ["listing"],
    "live": [
        "from a prompt's inject to the agent's first line about it, ms",
        "from inject to the first line of the answer, ms (medians)",
        "memory of a runner, MB",
        "1 s in which nothing happens",
    ],
    "live_wire": ["a live agent over SSH, 160x45"],
    "mcp_server": [
        "from the start of an MCP server to the list of its tools",
        "an MCP server that waits, per second",
    ],
    "next_turn": [
        "from the end of an agent's process to the start of the next queued one",
        "a queued turn of a real agent beside its bare resume (medians)",
    ],
    "screen": [
        "start to first paint, ms (median)",
        "keys of the dashboard",
        "bytes while a session prints a line a second",
        "append to pixel, ms",
        "idle for 1 s",
    ],
    "streams": ["the last of 5 turns in a stream of 0 MB", "a turn with 500 lines that are not events"],
    "supervision": ["one runner", "2 sessions"],
    "table": ["the dashboard, 160x45 (medians)", "a table of sessions, 160x45"],
    "tasks": ["keys for the tasks of a day"],
    "usage": ["50 sessions, 1,500 reports", "the file of the sums of days"],
    "viewer opening": [
        "from the key to the last step on the screen, without and with a kept index",
        "from the key until everything is read",
    ],
    "viewer memory": ["memory of the dashboard"],
    "viewer keys": [
        "ms from a key to the first byte",
        "ms from a key to the last byte (a scrollbar comes a frame after the text)",
        "CPU ms of a key",
        "bytes of a key",
        "bytes in `agentdash watch` of a session that has ended",
    ],
    "viewer growing": ["`agentdash watch` of a session at work"],
    "viewer searching": ["from Enter, a text that stands only in the last tenth, from the beginning on"],
    "viewer beside": ["the same turn file side by side (a start of agentdash is that of Python and Textual)"],
    "wire": ["dashboard and watch in tmux over SSH, 160x45, 10 ended sessions"],
}
"""The tables that each one prints."""


def programs():
    """The files that are programs; the others are their parts."""
    return sorted(path.stem for path in BENCH.glob("*.py") if "__main__" in path.read_text())


def test_every_program_is_run_here():
    assert sorted({name.split()[0] for name in TITLES}) == programs()


def test_every_part_of_the_viewer_is_run_here():
    listed = re.search(r"^PARTS = .* for part in \((.*)\)}", (BENCH / "viewer.py").read_text(), re.MULTILINE)
    assert tuple(listed[1].split(", ")) == PARTS
    assert {f"viewer {part}" for part in PARTS} <= TITLES.keys()


@pytest.mark.parametrize("name", TITLES)
def test_it_prints_its_tables_with_a_figure_in_every_row(name, require_tool, tmp_path, monkeypatch):
    for tool in NEEDS.get(name, ()):
        require_tool(tool)
    for variable in ("AGENTDASH_HOME", "AGENTDASH_CONFIG", "AGENTDASH_OWN_FILES"):
        monkeypatch.delenv(variable)
    program, *words = name.split()
    env = os.environ | {"BENCH_TINY": "1", "TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    argv = [sys.executable, f"{program}.py", *words]
    done = subprocess.run(argv, check=False, cwd=BENCH, env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    found = tables(done.stdout)
    assert list(found) == TITLES[name]
    for rows in found.values():
        assert rows
        for row in rows:
            assert re.search(r"  -?\d", row) or "not installed" in row, row
    assert done.stderr == ""


@pytest.mark.parametrize(("name", "parts"), [("live", "prompts, memory, idle"), ("viewer", ", ".join(PARTS))])
def test_its_help_names_its_parts(name, parts):
    argv = [sys.executable, f"{name}.py", "--help"]
    done = subprocess.run(argv, check=True, cwd=BENCH, capture_output=True, text=True, timeout=280)
    assert parts in " ".join(done.stdout.split())


def tables(printed):
    """The rows of each printed table by its title; a line that is not as long as the head is a note below the table."""
    found = {}
    for block in printed.split("\n\n"):
        title, head, _, *rows = block.strip("\n").split("\n")
        found[title] = [row for row in rows if len(row) == len(head)]
    return found


@pytest.mark.parametrize("name", ["wire", "live_wire"])
def test_without_an_ssh_server_it_says_so_in_one_line(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    argv = [sys.executable, f"{name}.py"]
    done = subprocess.run(argv, check=False, cwd=BENCH, capture_output=True, text=True, timeout=280)
    assert done.returncode == 1
    assert re.fullmatch(rf"{name}\.py: not installed: ssh, .*\. Install them to run this benchmark\.\n", done.stderr)
