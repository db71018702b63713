"""The verbs of the settings, presets and profiles over a real manager."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.managing.housekeeping import Housekeeping
from agentdash.tui.cli.main import run

pytestmark = pytest.mark.usefixtures("scripted_agent")

CONFIG = """\
default_agent = "scripted"
[agents.scripted]
speed = 100.0
script = "quick"
[limits]
tokens = 500
[presets.quick]
agent = "scripted"
prompt = "Look at {prompt}, please."
copies = 2
[presets.quick.options]
script = "done"
[presets.quick.limits]
wall_seconds = 60
[profiles.slow.limits]
wall_seconds = 7
"""


class Cli:
    def __init__(self, capture: pytest.CaptureFixture[bytes], patch: pytest.MonkeyPatch) -> None:
        self.capture = capture
        self.patch = patch

    def __call__(self, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        self.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self.capture.readouterr()
        code = run(list(arguments))
        out, err = self.capture.readouterr()
        return code, out.decode(), err.decode()

    def json(self, *arguments: str, stdin: bytes = b"") -> Any:
        code, out, err = self(*arguments, "--json", stdin=stdin)
        assert code == 0, err
        return json.loads(out)


@pytest.fixture
def cli(
    manager: SessionManager, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Cli:
    monkeypatch.delenv("AGENTDASH_PROFILE", raising=False)
    (tmp_path / "config.toml").write_text(CONFIG)
    return Cli(capsysbinary, monkeypatch)


def test_an_unknown_profile_is_an_error_for_each_verb_but_no_reason_to_hide_the_help(cli: Cli) -> None:
    for verb in (
        ["ls"],
        ["ls", "--json"],
        ["show", "@last"],
        ["config", "presets"],
        ["config", "list"],
        ["config", "check"],
    ):
        code, out, err = cli("--profile", "nope", *verb)
        assert (code, out, "Unknown profile 'nope'. Known profiles: slow." in err) == (2, "", True)
    assert cli("--profile", "nope", "ls", "--help")[0] == 0
    assert cli("--profile", "slow", "ls")[0] == 0


def test_watch_that_only_looks_settles_nothing(
    cli: Cli, manager: SessionManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = manager.run(["true"])
    on_a_screen = SimpleNamespace(isatty=lambda: True)
    opened: list[bool] = []
    settled: list[bool] = []
    monkeypatch.setattr("agentdash.tui.startup.check_terminal", lambda: None)
    monkeypatch.setattr("agentdash.tui.cli.commands.reading.following.sys", SimpleNamespace(stdout=on_a_screen))
    monkeypatch.setattr(
        "agentdash.tui.startup.open_dashboard", lambda *_, read_only, **__: opened.append(read_only) or 0
    )
    monkeypatch.setattr(Housekeeping, "settle", lambda _: settled.append(True))
    for text in ("[dashboard]\nread_only = true\n", "[dashboard]\n[profiles.eyes.dashboard]\nread_only = true\n"):
        (tmp_path / "config.toml").write_text(text)
        profile = ["--profile", "eyes"] if "eyes" in text else []
        assert cli(*profile, "watch", session.id)[0] == 0
    assert (opened, settled) == ([True, True], [])
    assert cli("watch", session.id)[0] == 0
    assert (opened, len(settled)) == ([True, True, False], 1)


@pytest.mark.smoke
def test_list_says_what_holds_and_where_it_comes_from(cli: Cli, tmp_path: Path) -> None:
    code, out, _ = cli("config", "list")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert code == 0
    assert "config.toml:6" in lines["limits.tokens"]
    assert "default" in lines["dashboard.theme"]
    assert "Maximum tokens" in lines["limits.tokens"]
    listed = {one["key"]: one for one in cli.json("config", "list")}
    assert listed["agents.scripted.speed"]["line"] == 3
    assert listed["agents.scripted.limits.tokens"]["line"] == 6
    assert listed["presets.quick.copies"]["value"] == 2
    assert listed["AGENTDASH_CONFIG"] | {"takes": "", "default_words": ""} == {
        "key": "AGENTDASH_CONFIG", "value": str(tmp_path / "config.toml"), "origin": "environment", "path": None,
        "line": None, "profile": None, "takes": "", "default": None, "default_words": "", "choices": [],
        "description": "Path of the settings file.",
    }  # fmt: skip
    under = {one["key"]: one for one in json.loads(cli("--profile", "slow", "config", "list", "--json")[1])}
    assert (under["limits.wall_seconds"]["origin"], under["limits.wall_seconds"]["profile"]) == ("profile", "slow")


def test_get_gives_a_value_a_table_or_exit_code_1(cli: Cli) -> None:
    assert cli("config", "get", "default_agent") == (0, "scripted\n", "")
    assert cli("config", "get", "agents.scripted.speed") == (0, "100.0\n", "")
    assert cli("config", "get", "presets.quick.options") == (0, 'script = "done"\n', "")
    assert cli("config", "get", "limits.cost_usd") == (1, "", "")
    assert cli.json("config", "get", "limits")["tokens"] == 500
    code, _, err = cli("config", "get", "limit.tokens")
    assert (code, "Did you mean limits.tokens" in err) == (2, True)


def test_check_names_file_line_and_key(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    assert cli("config", "check") == (0, f"{path}: ok, profiles ok: slow\n", "")
    assert cli.json("config", "check") == {"path": str(path), "exists": True, "ok": True, "profiles": ["slow"]}
    path.write_text("[limits]\ntokens = -1\n")
    assert cli("config", "check") == (2, "", f"agentdash: {path}:2: limits.tokens: Expected int >= 1.\n")
    path.unlink()
    assert "using defaults" in cli("config", "check")[1]


def test_check_and_edit_and_doctor_refuse_keys_with_which_the_dashboard_would_not_start(
    cli: Cli, edits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = edits / "config.toml"
    for line, why in (
        ('sing = "x"', "keys.sing: Unknown action 'sing'."),
        ('stop = "n"', "keys.stop: n cannot be bound to stop: it is new_session"),
        ('stop = "hyper+x"', "keys.stop: Unknown key 'hyper+x'."),
    ):
        path.write_text(f"[keys]\n{line}\n")
        code, _, err = cli("config", "check")
        assert (code, f"{path}:2: {why}" in err) == (2, True)
        assert f"{path}:2: {why}" in cli("config", "edit")[2]
        assert f"{path}:2: {why}" in next(line for line in cli("doctor")[1].splitlines() if "keys." in line)
    path.write_text('[keys]\nstop = "%"\n[profiles.odd.keys]\nkill = "%"\n[profiles.ok.keys]\nstop = ""\n')
    for profile in ("", "ok"):
        monkeypatch.setenv("AGENTDASH_PROFILE", profile)
        code, _, err = cli("config", "check")
        assert (code, "profiles.odd.keys.kill: % cannot be bound to kill" in err, "(under the profile odd)" in err) == (
            2,
            1,
            1,
        )
    path.write_text('[keys]\nstop = "n"\n[profiles.ok.keys]\nstop = ""\n')
    assert cli("config", "check")[0] == 2


@pytest.fixture
def edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor called vim that notes its arguments and adds a line to the file."""
    script = tmp_path / "vim"
    script.write_text(
        f'#!/bin/sh\nfor file; do :; done\necho "$@" > {tmp_path}/told\ncat {tmp_path}/added >> "$file"\n'
    )
    script.chmod(0o755)
    (tmp_path / "added").write_text("# seen\n")
    monkeypatch.setenv("VISUAL", str(script))
    return tmp_path


def test_edit_opens_the_editor_at_the_key_and_checks_afterwards(cli: Cli, edits: Path) -> None:
    path = edits / "config.toml"
    code, _, err = cli("config", "edit", "limits.tokens")
    assert (code, err) == (0, f"{path}: ok\n")
    assert (edits / "told").read_text() == f"+6 {path}\n"
    (edits / "added").write_text("[stop]\nwait = 1\n")
    code, _, err = cli("config", "edit")
    assert (code, "stop.wait: Unknown key." in err) == (2, True)
    assert path.read_text() == f"{CONFIG}# seen\n[stop]\nwait = 1\n"


def test_edit_begins_with_a_commented_file(cli: Cli, edits: Path) -> None:
    path = edits / "config.toml"
    path.unlink()
    assert cli("config", "edit")[0] == 0
    assert '\n# theme = "dark"\n' in path.read_text()
    assert path.read_text().endswith("# seen\n")


def test_the_page_is_printed(cli: Cli) -> None:
    assert "| `queue.max_running` | whole number from 1 |" in cli("config", "docs")[1]


def test_a_preset_is_started_and_explicit_options_win(cli: Cli, manager: SessionManager) -> None:
    first, second = cli.json("spawn", "--preset", "quick", "the logs")
    assert first["task"] == second["task"] == "Look at the logs, please."
    assert manager.reader.options(first["id"]) == {"script": "done", "limits": {"wall_seconds": 60}}
    [one] = cli.json("spawn", "--preset", "quick", "-n", "1", "--limit", "wall=9", "--set", "script=quick", "x")
    assert manager.reader.options(one["id"]) == {"script": "quick", "limits": {"wall_seconds": 9}}
    assert cli.json("spawn", "--preset", "quick", "-n", "1", stdin=b"a pipe")[0]["task"] == "Look at a pipe, please."


def test_a_preset_that_is_not_there_or_says_nothing(cli: Cli) -> None:
    code, _, err = cli("spawn", "--preset", "slow", "x")
    assert (code, "Unknown preset 'slow'. Known presets: quick." in err) == (2, True)
    code, _, err = cli("spawn", "--preset", "quick")
    assert (code, "The preset needs a prompt." in err) == (2, True)


def test_presets_are_listed(cli: Cli, tmp_path: Path) -> None:
    assert cli("config", "presets") == (0, "quick  scripted x2  Look at {prompt}, please.\n", "")
    assert cli.json("config", "presets")[0]["name"] == "quick"
    (tmp_path / "config.toml").unlink()
    assert "No presets yet." in cli("config", "presets")[1]


def test_names_are_completed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_AGENTDASH_COMPLETE", "bash_complete")
    for words, found in (
        ("agentdash spawn --preset q", "quick"), ("agentdash --profile s", "slow"),
        ("agentdash config get dashboard.t", "dashboard.theme"),
    ):  # fmt: skip
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
        assert f"plain,{found}\n" in cli()[1]


def test_a_session_keeps_the_profile_under_which_it_began(
    cli: Cli, manager: SessionManager, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def wall(ref: str) -> float | None:
        session = manager.reader.get(ref)
        launch = manager.store.launch(session.id, session.turn)
        assert launch is not None
        return launch.limits.wall_seconds

    _, out, _ = cli("--profile", "slow", "spawn", "--json", "--wait", "under a profile")
    slow = json.loads(out)["id"]
    plain = cli.json("spawn", "--wait", "without one")["id"]
    assert (wall(slow), wall(plain)) == (7.0, None)
    cli("inject", "--wait", slow, "more")
    cli("--profile", "slow", "inject", "--wait", plain, "more")
    assert (wall(slow), wall(plain)) == (7.0, None)
    path = tmp_path / "config.toml"
    path.write_text(CONFIG.partition("[profiles")[0])
    code, _, err = cli("inject", slow, "and more")
    assert code == 2
    assert f"Session {slow[:8]} uses the profile 'slow'." in err
    assert manager.reader.get(slow).turn == 2
