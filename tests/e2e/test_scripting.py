"""Ids and waits, as scripts use them."""

import subprocess
import sys

import pytest
from verbs import verb

from agentdash.sessions.rules.launch import Start


def command(manager, *argv):
    return manager.spawn(Start(" ".join(argv), agent="command", argv=argv))


def test_an_id_is_any_unique_beginning_and_others_are_errors_with_candidates(manager, similar_ids):
    first, last = command(manager, "true"), command(manager, "true")
    assert [verb("show", ref, "--json").returncode for ref in (first.id, "@last", last.id[:13])] == [0, 0, 0]
    assert last.id in verb("show", "@last", "--json").stdout
    ambiguous = verb("show", similar_ids)
    assert ambiguous.returncode == 2
    assert first.id[:13] in ambiguous.stderr
    assert last.id[:13] in ambiguous.stderr
    assert verb("show", "").returncode == 2


@pytest.mark.smoke
@pytest.mark.parametrize(("words", "code"), [
    (("true", "true"), 0), (("true", "false"), 1), (("true", "sleep 600", "--any"), 0),
    (("sleep 600", "--timeout", "0.1"), 124),
])  # fmt: skip
def test_wait_exits_with_the_outcome(manager, words, code):
    options = words[words.index("--timeout") :] if "--timeout" in words else [w for w in words if w == "--any"]
    ids = [command(manager, *word.split()).id for word in words if word not in options]
    assert verb("wait", *ids, *options).returncode == code


@pytest.mark.parametrize("words", [("ls",), ("ls", "--json"), ("events",), ("status",), ("schema",)], ids=" ".join)
@pytest.mark.parametrize("closed", [(1,), (2,), (1, 2)], ids=str)
def test_a_closed_output_is_discarded(manager, words, closed):
    closings = " ".join(f"{number}>&-" for number in closed)
    line = f'"$0" -m agentdash "$@" {closings}'
    done = subprocess.run(["sh", "-c", line, sys.executable, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (manager.layout.home / "cli.log").exists()
