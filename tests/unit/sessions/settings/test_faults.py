"""All faults of a settings file, each at its own line."""

import pytest

from agentdash.sessions.settings.config import settings_of
from agentdash.sessions.settings.source import MOST, faults


@pytest.fixture
def found(tmp_path):
    """Returns the lines and keys of the faults of a file."""

    def of(text):
        path = tmp_path / "config.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        errors = faults(path, lambda source: settings_of(source, ""))
        assert all(str(error).startswith(f"{path}:{error.line}: ") for error in errors)
        return [(error.line, ".".join(error.key)) for error in errors]

    return of


def test_every_fault_is_named_with_its_own_line(found):
    for text, expected in [
        ("", []),
        ("[keys]\nfollow = 5\nstop = 6\n", [(2, "keys.follow"), (3, "keys.stop")]),
        (
            '[limits]\ntokens = "x"\nwall = 1\n[dashboard]\ntheme = "purple"\n[profiles.work]\ndefault_agent = "hal"\n',
            [(2, "limits.tokens"), (3, "limits.wall"), (5, "dashboard.theme"), (7, "profiles.work.default_agent")],
        ),
        ('[asks]\non_timeout = "x"\ntimeout = "soon"\n', [(2, "asks.on_timeout"), (3, "asks.timeout")]),
        (
            '[[asks.rules]]\ndecide = "x"\n[[asks.rules]]\ntool = "x"\n[[asks.rules]]\ndecide = "deny"\nfolder = "~"\n',
            [(2, "asks.rules[0].decide"), (3, "asks.rules[1]"), (7, "asks.rules[2].folder")],
        ),
        ('[agents.codex]\nargs = ["a", 1, "b", 2]\n', [(2, "agents.codex.args[1]"), (2, "agents.codex.args[3]")]),
        (
            '[presets.a]\nagent = "x"\noptions.odd = 1\n[presets.b]\nprompt = 3\noptions.sandbox = "no"\n',
            [(2, "presets.a.agent"), (5, "presets.b.prompt"), (6, "presets.b.options.sandbox")],
        ),
        ('default_agent = "codex\n[keys]\nfollow = 5\n', [(1, "default_agent"), (3, "keys.follow")]),
        ("[queue]\nmax_running = 0\n[limits\ntokens = true\n", [(2, "queue.max_running"), (3, "")]),
        ("[queue]\nmax_running = 0\n[limits]\nx = [1,\ny = 2\n", [(2, "queue.max_running"), (5, "limits.y")]),
        ('x = """\nabc\n[a]\n', [(3, "")]),
    ]:
        assert found(text) == expected, text


@pytest.mark.parametrize("text", [b"\xff", "[[[[[[" * 1000, "a = [\n" * 3000])
def test_what_cannot_be_read_at_all_is_one_fault(found, text):
    assert len(found(text)) == 1


def test_there_is_an_end_to_faults(found):
    keys = "\n".join(f"k{number} = {number}" for number in range(5 * MOST))
    assert len(found(f"[limits]\n{keys}\n")) == MOST
