"""Settings: what is broken blocks, and names file, line and key."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from agentdash.sessions.agents.registry import agent_names
from agentdash.sessions.model.errors import ConfigError, UsageError
from agentdash.sessions.rules.launch import Ladder
from agentdash.sessions.settings.catalog_texts import write_first
from agentdash.sessions.settings.config import Config, as_toml, in_force, load_config, read_settings
from agentdash.sessions.settings.effective import held
from agentdash.sessions.settings.place import config_path
from agentdash.sessions.settings.source import Source
from agentdash.sessions.settings.toml_keys import line_of
from agentdash.tui.render.setup.settings import value_text

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def writer(text: str) -> Path:
        path = tmp_path / "config.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return writer


def test_a_missing_file_means_the_defaults(tmp_path: Path) -> None:
    assert load_config(tmp_path / "none.toml") == Config()


def test_the_path_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTDASH_CONFIG", str(tmp_path / "mine.toml"))
    assert config_path() == tmp_path / "mine.toml"
    monkeypatch.delenv("AGENTDASH_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config_path() == tmp_path / "agentdash" / "config.toml"


def test_sections_become_each_agents_own_settings(write: Write) -> None:
    path = write(
        'default_agent = "claude"\n[agents.command]\nargs = ["-x"]\nbin = "sh"\n[stop]\ninterrupt_seconds = 1\n'
    )
    config = load_config(path)
    assert config.default_agent == "claude"
    assert config.agents["command"].args == ("-x",)
    assert config.settings_for("command", {"args": ["-y"]}).args == ("-y",)
    assert config.settings_for("command", {}).bin == "sh"
    assert config.stop.over(Ladder()) == Ladder(interrupt=1.0)


def test_it_is_read_at_every_call(write: Write) -> None:
    path = write('default_agent = "command"\n')
    assert load_config(path).default_agent == "command"
    write('default_agent = "claude"\n')
    assert load_config(path).default_agent == "claude"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('default_agent = "hal"\n', "1: default_agent"),
        ("[agents.hal]\nspeed = 2\n", "1: agents.hal"),
        ('[presets.show]\nagent = "hal"\n', "2: presets.show.agent"),
        ('[profiles.try]\ndefault_agent = "hal"\n', "2: profiles.try.default_agent"),
    ],
)
def test_an_agent_that_does_not_exist_is_refused_wherever_it_is_named(write: Write, text: str, place: str) -> None:
    path = write(text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value) == f"{path}:{place}: Unknown agent 'hal'. Known agents: {', '.join(agent_names())}."


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("a = = 1\n", 1, "Invalid value"),
        ('\n\ndefault_agent = "codex\n', 3, ""),
        ("[stop", 1, ""),
        (
            "\nsurprise = 1\n",
            2,
            "surprise: Unknown key. Known keys: default_agent, agents, stop, limits, attention, queue, asks,",
        ),
        ("default_agent = 3\n", 1, "default_agent: Expected str, got int."),
        ('# who\ndefault_agent = "hal"\n', 2, "default_agent: Unknown agent 'hal'. Known agents: codex,"),
        ("[agents.hal]\nx = 1\n", 1, "agents.hal: Unknown agent 'hal'"),
        ("[agents]\ncommand = 3\n", 2, "agents.command: Expected object, got int."),
        (
            "[agents.command]\nbin = 'x'\nbni = 'x'\n",
            3,
            "agents.command.bni: Unknown key. Known keys: bin, model, args",
        ),
        ("[agents.command]\n\nargs = [1]\n", 3, "agents.command.args[0]: Expected str, got int."),
        ("agents = { command = { args = 3 } }\n", 1, "agents.command.args: Expected array, got int."),
        ("[agents]\ncommand.args = 3\n", 2, "agents.command.args: Expected array"),
        ('[stop]\nterminate_seconds = "2"\n', 2, "stop.terminate_seconds: Expected float, got str."),
        ("[stop]\ninterrupt_seconds = -1\n", 2, "stop.interrupt_seconds: Expected float >= 0.0."),
        (
            "[stop]\nwait = 1\n",
            2,
            "stop.wait: Unknown key. Known keys: interrupt_seconds, terminate_seconds, after_turn.",
        ),
        ('[asks]\ntimeout = "soon"\n', 2, "asks.timeout: 'soon' is not a valid duration"),
        ("[keys]\n\nfollow = 5\n", 3, "keys.follow: Expected str | object | array, got int."),
        ('[keys]\nstop = "Z"\n[keys.steps]\nall = [1]\n', 4, "keys.steps.all: Expected str, got int."),
        ("[dashboard]\ntheme = { a = 1, b = 2 }\n", 2, "dashboard.theme: Expected str, got object."),
        (
            '[[asks.rules]]\ndecide = "deny"\ntool = "Bash"\nfolder = "~/x"\n',
            4,
            "asks.rules[0].folder: folder is not an absolute path",
        ),
        ('[asks]\n\non_timeout = "allow"\n', 3, "asks.on_timeout: Invalid enum value 'allow'. Choose one of: deny,"),
        (
            '[[asks.rules]]\ndecide = "deny"\n[[asks.rules]]\ntool = "Bash"\ndecide = "yes"\n',
            5,
            "asks.rules[1].decide: Invalid enum value 'yes'. Choose one of: allow, deny, ask",
        ),
        (
            '[[asks.rules]]\ndecide = "deny"\n[[asks.rules]]\ndecide = "ask"\npath = "/x"\n',
            5,
            "asks.rules[1].path: Unknown key. Known keys: decide, tool, command, folder, agent.",
        ),
        ('[[asks.rules]]\ntool = "Bash"\n', 1, "asks.rules[0]: Object missing required field decide."),
        ('[[asks.rules]]\ndecide = "ask"\nfolder = "~/x"\n', 3, "asks.rules[0].folder: folder is not an absolute path"),
        (
            '[budgets]\nday_usd = 9\n[budgets.folders."~nosuch/x"]\nday_usd = 5\n',
            3,
            "budgets.folders.~nosuch/x: '~nosuch/x' is not an absolute path. It can begin with ~, or with the ~NAME",
        ),
        ("\n[budgets.folders.api]\nday_usd = 5\n", 2, "budgets.folders.api: 'api' is not an absolute path."),
        ('[budgets.folders]\n"" = { day_usd = 5 }\n', 2, "budgets.folders.: '' is not an absolute path."),
        ('[budgets.folders."/a\\u0000"]\nday_usd = 5\n', 1, "is not an absolute path."),
        (
            '[profiles.work.budgets.folders."./api"]\nday_usd = 5\n',
            1,
            "profiles.work.budgets.folders../api: './api' is not an absolute path.",
        ),
    ],
)
def test_a_broken_setting_names_file_line_and_key(write: Write, text: str, line: int, complaint: str) -> None:
    path = write(text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    assert complaint in message
    assert caught.value.exit_code == 2


def test_text_that_is_no_utf8_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b'# fine\ndefault_agent = "\xff"\n')
    with pytest.raises(ConfigError, match=r"config\.toml:2: the file is not UTF-8"):
        load_config(path)


def test_an_unreadable_file_blocks(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load_config(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be read: Not a directory"):
        load_config(tmp_path / "file" / "config.toml")


def test_an_option_that_cannot_be_used_is_named() -> None:
    with pytest.raises(UsageError, match=r"Option sandbx of command: Unknown key\. Known keys: bin, model"):
        Config().settings_for("command", {"sandbx": "x"})
    with pytest.raises(UsageError, match="Option args of command: Expected array, got int"):
        Config().settings_for("command", {"args": 1})
    with pytest.raises(UsageError, match="Unknown agent 'hal'"):
        Config().settings_for("hal", {})


def test_full_danger_is_never_the_default() -> None:
    for name in ("codex", "claude"):
        settings = Config().settings_for(name, {})
        assert not getattr(settings, "full_danger", False)


def test_a_first_file_loads_and_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "claude").write_text("#!/bin/sh\n")
    (tools / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    path = tmp_path / "new" / "config.toml"
    write_first(path)
    assert path.stat().st_mode & 0o777 == 0o600
    config = load_config(path)
    assert config.default_agent == "claude"
    assert list(config.agents) == ["claude"]
    assert config.stop.over(Ladder()) == Ladder()


def test_a_first_file_never_replaces_one(write: Write) -> None:
    path = write("# mine\n")
    with pytest.raises(UsageError, match="already exists"):
        write_first(path)
    assert path.read_text() == "# mine\n"
    with pytest.raises(ConfigError, match="cannot be written"):
        write_first(path / "below")


def test_settings_survive_the_way_to_toml_and_back(write: Write) -> None:
    config = load_config(write('[agents.command]\nargs = ["a\\"b", "ü"]\n[stop]\nterminate_seconds = 0.5\n'))
    assert load_config(write(as_toml(config))) == config
    tomllib.loads(as_toml(Config()))


def test_lines_are_found_beside_strings_quotes_and_dots() -> None:
    text = 'a = """\nb = 1\n"""\nb = 2\n[x."y z"]\nq.r = 1\n[[list]]\nname = 1\n'
    assert line_of(text, ("b",)) == 4
    assert line_of(text, ("x", "y z", "q", "r")) == 6
    assert line_of(text, ("x", "y z", "missing")) == 5
    assert line_of(text, ("list", "name")) == 8
    assert line_of(text, ("nowhere",)) == 1


def test_rules_of_asks_are_read_in_their_order_and_come_back(write: Write) -> None:
    text = (
        '[asks]\ntimeout = "15m"\n[[asks.rules]]\ndecide = "allow"\ncommand = ["git", "log"]\n'
        '[[asks.rules]]\ndecide = "deny"\ntool = "WebFetch"\n'
    )
    loaded = read_settings(write(text), "")
    asks = loaded.config.asks
    assert [str(rule) for rule in asks.rules] == ["allow command git log", "deny tool WebFetch"]
    assert (asks.timeout, asks.on_timeout) == ("15m", "wait")
    [found] = [one for one in held(loaded, {}) if one.setting.key == "asks.rules"]
    assert value_text(found) == ('[{decide = "allow", command = ["git", "log"]}, {decide = "deny", tool = "WebFetch"}]')
    assert load_config(write(as_toml(in_force(loaded.config))), "").asks == asks


@pytest.mark.parametrize(("text", "line", "key"), [
    ('[agents.codex]\nargs = ["x", "y"\nlive = true\n', 3, "agents.codex.args"),
    ("a = [[1, 2], [3]\nb = 1\n", 2, "a"),
    ("a = {b = 1\n", 1, "a"),
    ('[x]\nb = "abc\n', 2, "x.b"),
    ("args = [1,\n", 1, "args"),
])  # fmt: skip
def test_a_value_without_its_end_is_named_by_its_key(tmp_path, text, line, key):
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=f"config.toml:{line}: {re.escape(key)}: "):
        Source(path)


@pytest.mark.parametrize("text", ["x y\n", "[ab\n", "a = 1\n[b\n"])
def test_an_error_that_is_in_no_value_names_no_key(tmp_path, text):
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"config.toml:\d: Expected"):
        Source(path)
