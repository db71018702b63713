"""``--help`` and the answer to an unknown command."""

import click
import pytest

from agentdash.tui.cli.main import cli, run

VERBS = cli.list_commands(click.Context(cli))


@pytest.fixture
def shown(capsys, monkeypatch):
    def shown(*words, columns=80):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert run(words) == 0
        return capsys.readouterr().out

    return shown


def test_all_verbs_are_on_one_screen_by_use(shown):
    lines = shown("--help").splitlines()
    assert len(lines) < 24  # one is left for the prompt of the shell
    assert max(map(len, lines)) <= 80
    uses = lines[lines.index("Commands (agentdash help describes them):") + 1 :]
    assert [line.split()[0] for line in uses[:4]] == ["Start", "Watch", "Prompt", "Resume"]
    assert sorted(name for line in uses for name in line[len("  Set up") :].split()) == VERBS


@pytest.mark.parametrize("columns", [50, 58])
def test_names_of_verbs_are_whole_in_a_narrow_terminal(columns, shown):
    lines = shown("--help", columns=columns).partition("describes them):\n")[2].splitlines()
    assert sorted(name for line in lines for name in line[len("  Set up") :].split()) == VERBS
    assert max(map(len, lines)) <= columns


def test_help_describes_each_verb_by_use(shown):
    text = shown("help")
    sections = [line.rstrip(":") for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert sections[:4] == ["Options", "Start", "Watch", "Prompt"]
    listed = [line.split() for line in text.partition("\nStart:")[2].splitlines() if line.startswith("  ")]
    assert sorted(words[0] for words in listed) == VERBS
    assert all(words[-1].endswith((".", ")")) for words in listed)


def test_a_hidden_verb_is_not_listed(shown, monkeypatch):
    monkeypatch.setattr(cli.get_command(click.Context(cli), "retry"), "hidden", True)
    assert "retry" not in shown("--help")
    assert "retry" not in shown("help")


@pytest.mark.parametrize("words", [["help"], ["config", "--help"]])
def test_descriptions_of_verbs_are_whole_at_80_columns(words, shown):
    lines = shown(*words).splitlines()
    assert not [line for line in lines if line.endswith("...") and "Usage:" not in line]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["lss"], "Unknown command 'lss'. Did you mean ls? Try: agentdash --help."),
        (["kill"], "Unknown command 'kill'. Did you mean stop? Try: agentdash --help."),
        (["xyzzy"], "Unknown command 'xyzzy'. Try: agentdash --help."),
        (["config", "lst"], "Unknown command 'lst'. Did you mean list? Try: agentdash config --help."),
    ],
)
def test_an_unknown_command_names_similar_ones(words, answer, capsys):
    assert run(words) == 2
    assert capsys.readouterr().err == f"agentdash: {answer}\n"


def test_help_of_a_verb_is_a_verb_too(shown):
    assert shown("help", "ls") == shown("ls", "--help")
