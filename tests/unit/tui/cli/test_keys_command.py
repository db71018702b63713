"""``agentdash config keys`` and ``--read-only``."""

import json

import pytest

from agentdash.tui.cli.main import run


@pytest.fixture
def settings(tmp_path):
    return tmp_path / "config.toml"


def test_keys_are_listed_with_the_names_of_the_settings(settings, capsys):
    settings.write_text('[keys]\nstop = "%"\narchive = ""\n')
    assert run(["config", "keys"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert next(line for line in lines if line[0] == "stop")[:4] == ["stop", "%", "stop", "the"]
    assert next(line for line in lines if line[0] == "archive")[1] == "-"
    assert next(line for line in lines if line[0] == "table.down")[:3] == ["table.down", "j", "Down"]


def test_keys_for_programs(settings, capsysbinary):
    settings.write_text('[keys]\nstop = "%"\n')
    assert run(["config", "keys", "--json"]) == 0
    told = {one["action"]: one for one in json.loads(capsysbinary.readouterr().out)}
    assert told["stop"] == {
        "action": "stop", "keys": ["%"], "default": ["x"], "where": ["prompt", "step", "steps", "table"],
        "help": "stop the session and all its processes (asks first)", "fixed": False, "changes": True,
    }  # fmt: skip


def test_a_key_that_cannot_be_used_is_told_with_its_place(settings, capsys):
    settings.write_text('[keys]\nstpo = "%"\n')
    assert run(["config", "keys"]) == 2
    assert f"{settings}:2: keys.stpo: Unknown action 'stpo'. Did you mean stop" in capsys.readouterr().err


def test_a_profile_has_keys_of_its_own(settings, capsys):
    settings.write_text('[keys]\nstop = "%"\n\n[profiles.mine.keys]\nkill = "Z"\n\n[profiles.odd.keys]\nkill = "%"\n')
    assert run(["--profile", "mine", "keys"]) == 0
    lines = dict(line.split()[:2] for line in capsys.readouterr().out.splitlines())
    assert (lines["stop"], lines["kill"]) == ("%", "Z")
    assert run(["--profile", "odd", "config", "keys"]) == 2
    assert f"{settings}:8: profiles.odd.keys.kill: % cannot be bound to kill: it is stop" in capsys.readouterr().err
    assert run(["config", "check"]) == 2
    assert "(under the profile odd)" in capsys.readouterr().err


def test_read_only_is_for_what_has_a_screen(capsys):
    assert run(["--read-only", "ls"]) == 2
    assert "--read-only works only with the dashboard, ls --table and watch." in capsys.readouterr().err
