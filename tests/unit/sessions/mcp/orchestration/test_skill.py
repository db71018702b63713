"""The skill file: each command line in it is one that agentdash takes."""

import re
import shlex

from verbs import verb

from agentdash.sessions.mcp.orchestration.skill import SKILL

LINES = [line for block in re.findall(r"```sh\n(.*?)```", SKILL, re.S) for line in block.splitlines()]


def test_it_has_the_header_of_a_skill():
    header = SKILL.split("---\n")[1].splitlines()
    assert [line.partition(": ")[0] for line in header] == ["name", "description"]
    assert len(header[1]) <= 1024
    assert verb("skill").stdout == SKILL


def test_each_command_line_is_understood():
    for line in LINES:
        name, command, *rest = shlex.split(line)
        assert name == "agentdash", line
        shown = verb(command, "--help")
        assert (shown.returncode, shown.stderr) == (0, ""), line
        options = [word for word in rest if word.startswith("--")]
        assert all(option in shown.stdout for option in options), line


def test_the_commands_of_the_text_exist():
    named = set(re.findall(r"`(--?[a-z]+|[a-z]+)`", SKILL)) - {"agentdash"}
    assert named == {"spawn", "digest", "--help", "--json"}
    assert all(verb(name, "--help").returncode == 0 for name in named if name.isalpha())
