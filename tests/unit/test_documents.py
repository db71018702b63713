"""The README is short; links have targets, and commands of the guide and what the pictures import exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import click
import pytest
from places import ROOT

from agentdash.sessions.settings.config import read_settings
from agentdash.tui.cli.main import cli

README = ROOT / "README.md"
GUIDE = sorted((ROOT / "docs" / "guide").glob("*.md"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`]*`")
LINK = re.compile(r"\]\(\s*([^)\s]+)\s*\)|^\[[^\]]+\]:\s+(\S+)", re.MULTILINE)
"""The target of a link or a picture, in the text or in a line of its own."""
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:")
HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)
CALL = re.compile(r"(?<![\w./-])agentdash((?: +[^\s|;&)$]+)+)")
"""A command with its words, up to the end of the line or of the command in a shell."""
NO_WORDS = re.compile(r"\"[^\"]*\"|'[^']*'|#.*")
"""Texts in quotes, and comments."""


def links_in(text: str) -> Iterator[str]:
    """Yield the targets of a document's links, without those of its code."""
    for written, defined in LINK.findall(CODE.sub("", BLOCK.sub("", text))):
        yield written or defined


def anchors_in(text: str) -> set[str]:
    """Return the names of a document's headings, as GitHub makes them."""
    names: dict[str, int] = {}
    for title in HEADING.findall(BLOCK.sub("", text)):
        name = re.sub(r"[^\w -]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()).replace(" ", "-")
        names[name] = names.get(name, -1) + 1
    return {f"{name}-{n}" if n else name for name, most in names.items() for n in range(most + 1)}


def broken_links(document: Path, text: str) -> list[str]:
    """Return the relative links of a document whose file or heading does not exist."""
    return [link for link in links_in(text) if not ADDRESS.match(link) and not has_target(link, document, text)]


def has_target(link: str, document: Path, text: str) -> bool:
    path, _, heading = unquote(link).partition("#")
    target = document.parent / path
    if not target.exists():
        return False
    return not heading or heading in anchors_in(target.read_text(encoding="utf-8") if path else text)


def calls_in(text: str) -> Iterator[list[str]]:
    """Yield the words after each ``agentdash`` or ``agentdash help`` in the code of a document."""
    blocks = [block for kind, block in BLOCK.findall(text) if kind == "sh"]
    for code in [*blocks, *CODE.findall(BLOCK.sub("", text))]:
        for call in CALL.findall(NO_WORDS.sub("", code.strip("`"))):
            words = call.split()
            yield words[words[0] == "help" :]


def unknown_words(words: list[str]) -> list[str]:
    """Return the verbs and options of a call that the program does not have."""
    command: click.Command = cli
    for number, word in enumerate(words):
        option = word.partition("=")[0]
        if word == "--":
            break
        if option.startswith("-") and len(option) > 1:
            if option not in options_of(command):
                return [word]
        elif isinstance(command, click.Group) and word.islower() and not takes_value(command, words[:number]):
            found = command.get_command(click.Context(command), word)
            if found is None:
                return [word]
            command = found
    return []


def takes_value(command: click.Command, before: list[str]) -> bool:
    """Return whether the last of these words is an option whose value is the next word."""
    options = [
        one for one in command.params if isinstance(one, click.Option) and before[-1:] and before[-1] in one.opts
    ]
    return bool(options) and not options[0].is_flag


def options_of(command: click.Command) -> set[str]:
    context = click.Context(command)
    return {name for option in command.get_params(context) for name in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("page", GUIDE, ids=lambda path: path.name)
def test_every_example_of_settings_can_be_used(page: Path, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        "\n".join(block for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == "toml")
    )
    read_settings(path)


def test_the_readme_is_read_in_a_few_minutes() -> None:
    assert len(README.read_text(encoding="utf-8").split()) <= 900


def test_the_readme_leads_to_every_page() -> None:
    linked = {(ROOT / link.partition("#")[0]).resolve() for link in links_in(README.read_text(encoding="utf-8"))}
    assert GUIDE
    assert [page.name for page in GUIDE if page.resolve() not in linked] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_has_a_target(document: Path) -> None:
    assert broken_links(document, document.read_text(encoding="utf-8")) == []


def test_every_command_is_one_of_the_program() -> None:
    calls = [(page.name, words) for page in (README, *GUIDE) for words in calls_in(page.read_text(encoding="utf-8"))]
    assert len(calls) > 100
    assert [(name, *unknown_words(words)) for name, words in calls if unknown_words(words)] == []


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("[a](README.md) ![b\nc](screenshots) [d](README.md#install) [e](#my-keys)\n# My `keys`!\n", []),
        ("[a](GONE.md) ![b](screenshots/gone.png)", ["GONE.md", "screenshots/gone.png"]),
        ("[a](README.md#gone) [b](#gone)", ["README.md#gone", "#gone"]),
        ("[a](#one-1) [b](#one-2)\n# One\n## One\n", ["#one-2"]),
        ("[a]: GONE.md\n[b](https://example.org/x) `[c](GONE.md)`\n```sh\n[d](GONE.md)\n# Head\n```\n[e](#head)\n",
         ["GONE.md", "#head"]),
    ],
)  # fmt: skip
def test_a_broken_link_is_found(text: str, broken: list[str]) -> None:
    assert sorted(broken_links(ROOT / "X.md", text)) == sorted(broken)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("```sh\nagentdash --profile gone ls --json; id=$(agentdash spawn -n 2 \"--gone it\") # --gone\n```\n", []),
        ("```sh\nagentdash run -- make --gone\n```\n`agentdash --read-only` in `~/.local/state/agentdash gone`", []),
        ("`agentdash gone ID` `agentdash stop --gone=1` `agentdash config lst`", ["gone", "--gone=1", "lst"]),
    ],
)  # fmt: skip
def test_an_unknown_command_is_found(text: str, unknown: list[str]) -> None:
    assert [word for words in calls_in(text) for word in unknown_words(words)] == unknown


@pytest.mark.parametrize("path", sorted((ROOT / "screenshots").glob("*.py")), ids=lambda path: path.stem)
def test_what_the_pictures_import_is_there(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in ("agentdash", "pilot"):
            exec(ast.unparse(node), {})
