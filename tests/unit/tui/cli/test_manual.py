"""The manual page has every command with its options."""

import click

from agentdash.tui.cli import manual
from agentdash.tui.cli.main import cli


def test_every_verb_has_a_section_with_its_usage():
    heads = {line.removeprefix(".SS agentdash ").split()[0] for line in manual.page().splitlines() if "SS age" in line}
    assert {name.replace("-", "\\-") for name in cli.list_commands(click.Context(cli))} == heads


def test_a_line_that_begins_as_a_request_of_man_is_text(monkeypatch):
    monkeypatch.setattr(cli, "help", ".agentdash.toml is read\n'quoted'\na \\ b")
    assert "\n\\&.agentdash.toml is read\n\\&'quoted'\na \\e b\n" in manual.page()
