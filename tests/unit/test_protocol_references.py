"""References to the measured facts about agent CLIs: file and heading exist, and all have the same form."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import ROOT

FOLDERS = ["sessions", "tui", "widgets", "tests", "bench"]
PROTOCOLS = ROOT / "docs" / "protocols"

REFERENCE = re.compile(r'docs/protocols/(?P<name>[a-z]+)\.md,\s+"(?P<heading>[^"]+)"')
"""``docs/protocols/claude.md, "Interrupts"``, also over the end of a line."""

MENTION = re.compile(r'(?<!")docs/protocols')

NAMED = r"(?:protocols|prompts|orchestration|textual|features|field|predecessors|design)(?:\.md)?"
OTHER_FORM = re.compile(
    rf"(?:(?:[(#;,:]|\band)\s*{NAMED}\s+\d+(?:\.\d+)*(?=[);:,]|\.?$|\.\s|\sand\s)|\bprotocols\s+\d)", re.MULTILINE
)
"""A paper that is not in the repository, and the number of a section, such as ``(notes 3.2)``."""


def flat(text: str) -> str:
    return " ".join(text.split())


def headings(name: str) -> list[str]:
    path = PROTOCOLS / f"{name}.md"
    return re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE) if path.exists() else []


def faults(source: str) -> Iterator[str]:
    """The references of a source that lead nowhere or have another form."""
    text = re.sub(r"\n[ \t]*# ", "\n", source)  # a comment of several lines is one text
    found = list(REFERENCE.finditer(text))
    yield from (flat(one[0]) for one in found if flat(one["heading"]) not in headings(one["name"]))
    starts = {one.start() for one in found}
    others = [one for one in MENTION.finditer(text) if one.start() not in starts]
    yield from (flat(text[one.start() :].partition("\n")[0]) for one in others)
    yield from (flat(one[0]) for one in OTHER_FORM.finditer(text))


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_reference_names_a_file_and_a_heading(folder):
    paths = [path for path in sorted((ROOT / folder).rglob("*.py")) if path != Path(__file__)]
    assert paths
    assert [
        f"{path.relative_to(ROOT)}: {fault}" for path in paths for fault in faults(path.read_text(encoding="utf-8"))
    ] == []


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_a_heading_is_there_once(name):
    found = headings(name)
    assert found
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "text",
    [
        'It ends (docs/protocols/claude.md, "Interrupts").',
        'It ends\n(docs/protocols/claude.md,\n"Forks and compactions"; docs/protocols/codex.md, "Receipts").',
        'x = 1\n    # It ends (docs/protocols/codex.md,\n    # "Forks and compactions").',
        "1 prompts 2  2 messages 41, and the prompts 3 to 5; Textual 8",
    ],
)
def test_a_good_reference_has_no_fault(text):
    assert list(faults(text)) == []


def test_a_broken_reference_is_found():
    for text, found in [
        ('It ends (docs/protocols/claude.md, "Interrupt").', ['docs/protocols/claude.md, "Interrupt"']),
        ('It ends (docs/protocols/opencode.md, "Ends").', ['docs/protocols/opencode.md, "Ends"']),
        ("See docs/protocols/claude.md.", ["docs/protocols/claude.md."]),
        ("It ends (protocols 3.2).", ["(protocols 3.2"]),
        ("It ends (its own schema; prompts 1.1, 1.2).", ["; prompts 1.1"]),
        ("It ends (0.169.0, its own schema, and prompts 1.2).", ["and prompts 1.2"]),
        ("It ends (protocols\n2.5; seen).", ["(protocols 2.5"]),
        ("x = 1  # protocols 3\ny = 2", ["# protocols 3"]),
        ("x = 1  # prompts 1.1\ny = 2", ["# prompts 1.1"]),
        ("# It ends\n# (prompts 1.1)", ["(prompts 1.1"]),
        ("It ends (prompts 5: messages are lost).", ["(prompts 5"]),
        ("It ends (design.md 4).", ["(design.md 4"]),
    ]:
        assert list(faults(text)) == found, text
