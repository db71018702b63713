"""``--help`` and the answer to an unknown command."""

import click
import pytest

from agentdash.tui.cli.main import cli, run


@pytest.fixture
def help_text(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["--help"]) == 0
    return capsys.readouterr().out


def test_help_groups_all_verbs_by_use(help_text):
    sections = [line.rstrip(":") for line in help_text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert sections[:4] == ["Options", "Start", "Watch", "Prompt and stop"]
    listed = [line.split()[0] for line in help_text.partition("\nStart:")[2].splitlines() if line.startswith("  ")]
    assert sorted(listed) == cli.list_commands(click.Context(cli))


@pytest.mark.parametrize("group", [[], ["config"]])
def test_descriptions_of_verbs_are_whole_at_80_columns(group, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*group, "--help"]) == 0
    out = capsys.readouterr().out
    assert not [line for line in out.splitlines() if line.endswith("...") and "Usage:" not in line]
    assert max(map(len, out.splitlines())) <= 80


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


@pytest.mark.parametrize(("words", "same"), [(["help"], ["--help"]), (["help", "ls"], ["ls", "--help"])])
def test_help_is_a_verb_too(words, same, capsys):
    assert run(words) == 0
    shown = capsys.readouterr().out
    assert run(same) == 0
    assert shown == capsys.readouterr().out
