"""Families on the command line: the tree with its sums, one family alone, and the workers of a lead's steps."""

import json
import sqlite3
import sys

import pytest

from agentdash.sessions.runner.processes.processes import SESSION_TAG
from agentdash.tui.cli.main import run


@pytest.fixture
def cli(tmp_path, capsysbinary, monkeypatch):
    monkeypatch.setenv("AGENTDASH_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("AGENTDASH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv(SESSION_TAG, raising=False)
    monkeypatch.chdir(tmp_path)

    def called(*arguments, code=0):
        capsysbinary.readouterr()
        assert run(list(arguments)) == code, capsysbinary.readouterr()
        out, err = capsysbinary.readouterr()
        return (out if code == 0 else err).decode()

    return called


@pytest.fixture
def family(cli):
    """A lead whose command starts one worker, which starts another one; and a stranger."""
    again = "agentdash run --json -- true"
    inner = f"{sys.executable} -m {again}"
    outer = inner.replace("true", f"sh -c '{inner}'")
    lead = json.loads(cli("run", "--json", "--title", "the lead", "--", "sh", "-c", outer))
    cli("wait", lead["id"])
    stranger = json.loads(cli("run", "--json", "--title", "a stranger", "--", "true"))
    cli("wait", stranger["id"])
    listed = json.loads(cli("ls", "--json"))
    child = next(one for one in listed if one["parent"] == lead["id"])
    cli("wait", child["id"])
    grandchild = next(one for one in json.loads(cli("ls", "--json")) if one["parent"] == child["id"])
    cli("wait", grandchild["id"])
    return lead["id"], child["id"], grandchild["id"], stranger["id"]


def test_a_family_can_be_listed_alone_as_a_tree_and_with_its_sums(cli, family):
    lead, child, grandchild, stranger = family
    listed = json.loads(cli("ls", "--family", lead[:8], "--json"))
    assert {one["id"] for one in listed} == {lead, child, grandchild}
    sums = {one["id"]: one["family"] for one in listed}
    assert sums[lead]["workers"] == 2
    assert sums[lead]["states"] == {"done": 2}
    assert sums[lead]["cost"] == {"reported_usd": None, "computed_usd": None, "missing": 0}
    assert sums[child]["workers"] == 1
    assert sums[grandchild] is None

    lines = cli("ls", "--tree").splitlines()
    places = [next(n for n, line in enumerate(lines) if one[:8] in line) for one in (lead, child, grandchild)]
    assert places == sorted(places)
    assert "2 workers: 2 ✓" in lines[places[0] + 1]
    assert "└ " in lines[places[1]]
    assert "  └ " in lines[places[2]]
    assert any(stranger[:8] in line for line in lines)
    assert stranger[:8] not in cli("ls", "--family", lead, "--tree")
    assert "$0.00" not in cli("ls", "--tree")


def test_an_archived_worker_is_in_its_family(cli, family):
    lead, child, _, _ = family
    cli("archive", child)
    assert child not in [one["id"] for one in json.loads(cli("ls", "--json"))]
    assert child in [one["id"] for one in json.loads(cli("ls", "--family", lead, "--json"))]


def test_an_outside_lead_has_a_family(cli, family, tmp_path):
    with sqlite3.connect(tmp_path / "state" / "agentdash.db") as db:
        db.execute("UPDATE sessions SET lead = 'claude:0b1c2d3e', lifecycle = 'linked' WHERE id = ?", (family[3],))
    db.close()
    listed = json.loads(cli("ls", "--family", "claude:0b1c2d3e", "--json"))
    assert [one["id"] for one in listed] == [family[3]]
    assert "claude 0b1c2d3e (outside)  1 worker: 1 ✓" in cli("ls", "--tree")
    explained = cli("explain", family[3])
    assert "claude:0b1c2d3e" in explained
    assert "linked: stopped with its lead" in explained


def test_a_family_that_does_not_exist_is_an_error(cli, family):
    assert "No session has the outside lead" in cli("ls", "--family", "claude:nobody", code=1)
    assert "No session with id" in cli("ls", "--family", "nobody99", code=1)


def test_a_tree_without_sessions_says_so(cli):
    assert cli("ls", "--tree").startswith("No sessions yet.")
