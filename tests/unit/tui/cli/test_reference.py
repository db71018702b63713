"""The documents that are made from the program are those of this program, complete, and valid Markdown."""

import html
import re

import click
import pytest
from markdown_it import MarkdownIt
from places import ROOT

from agentdash.sessions.settings.catalog import VARIABLES, patterns
from agentdash.sessions.text.markdown import escaped, table
from agentdash.tui.cli import reference
from agentdash.tui.cli.main import cli
from agentdash.tui.cli.schemas.verbs import NAMES
from agentdash.tui.keys.actions import REGISTRY

DOCS = ROOT / "docs"
FILES = reference.files()
PAGES = {name.rpartition("/")[2]: text for name, text in FILES.items() if name.endswith(".md")}


def anchors(page: str) -> list[str]:
    """The anchors of the headings, as code hosts make them."""
    titles = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_that_of_the_program(name: str) -> None:
    stored = (DOCS / name).read_text(encoding="utf-8") if (DOCS / name).exists() else ""
    assert stored == FILES[name], f"docs/{name} is old: make reference"


def test_no_other_file_is_beside_them() -> None:
    stored = {f"{path.parent.name}/{path.name}" for room in ("reference", "schema") for path in (DOCS / room).iterdir()}
    assert stored == FILES.keys() - {"agentdash.1"}, "run: make reference"


def test_a_file_that_is_not_made_is_removed_and_a_changed_one_written(tmp_path) -> None:
    reference.write(tmp_path)
    (tmp_path / "schema" / "odd.json").touch()
    (tmp_path / "reference" / "odd.md").touch()
    (tmp_path / "reference" / "keys.md").write_text("old")
    reference.write(tmp_path)
    found = {str(path.relative_to(tmp_path)): path for path in tmp_path.rglob("*") if path.is_file()}
    assert {name: path.read_text(encoding="utf-8") for name, path in found.items()} == FILES


def test_the_keys_are_those_of_the_registry() -> None:
    rows = re.findall(r"^\| `.*\| `([\w.]+)`(?:, fixed)? \| .*\|$", PAGES["keys.md"], re.MULTILINE)
    assert sorted(rows) == sorted(REGISTRY)
    stop = (
        "| `x` | stop the session and all its processes (asks first) | `stop` | [`stop`](commands.md#agentdash-stop) |"
    )
    assert stop in PAGES["keys.md"].splitlines()


def test_the_free_letters_of_a_part_have_no_action_in_it() -> None:
    parts = {text.partition("\n")[0]: text for text in PAGES["keys.md"].split("\n## ")[1:]}
    free = {name: text.partition("Free letters: ")[2].split() for name, text in parts.items()}
    assert "`n`" not in free["Sessions"], "it has an action anywhere"
    assert {"`b`", "`D`"} <= {*free["Sessions"]}, "b pages up in the steps only; D is a key of an earlier release"
    assert "`b`" not in {*free["Steps"], *free["Anywhere (except when typing)"]}
    with_menus = {*free["Sessions"], *free["Steps"], *free["Step pane"], *free["Anywhere (except when typing)"]}
    assert not {"`g`", "`z`", "`m`"} & with_menus, "they open menus"
    assert free["Prompt"] == free["Always"] == []


def test_each_verb_of_a_key_is_shown_in_the_help() -> None:
    assert reference.KEY_VERBS.keys() <= REGISTRY.keys()
    for words in reference.KEY_VERBS.values():
        verb, *options = words.split()
        command = cli.get_command(click.Context(cli), verb)
        assert command is not None
        assert not command.hidden, verb
        assert {*options} <= {option for parameter in command.params for option in parameter.opts}, words


def test_every_verb_has_its_usage_its_options_and_no_hidden_one(monkeypatch) -> None:
    page = PAGES["commands.md"]
    assert {f"agentdash-{verb}" for verb in cli.list_commands(click.Context(cli))} <= {*anchors(page)}
    stop = page.partition("### agentdash stop\n")[2].partition("\n### ")[0]
    assert "\nagentdash stop [OPTIONS] ID...\n" in stop
    assert "| `--family` | Also stop the sessions that they started. |" in stop
    check = cli.get_command(click.Context(cli), "config").commands["check"]
    assert "### agentdash config check\n" in page
    monkeypatch.setattr(check, "hidden", True)
    assert "### agentdash config check\n" not in reference.commands_page()


def test_every_setting_and_every_variable_has_a_row() -> None:
    rows = re.findall(r"^\| `([^`]+)` \|", PAGES["settings.md"], re.MULTILINE)
    assert sorted(rows) == sorted(one.key for one in (*patterns(), *VARIABLES))


def test_every_document_of_json_is_described_and_named_by_its_verbs() -> None:
    page = PAGES["json.md"]
    assert NAMES.keys() <= {*anchors(page)}
    queue = page.partition("### queue\n")[2].partition("\n### ")[0]
    assert "Printed by `queue`." in queue
    assert "| `unconfirmed_prompts[].text` | string |" in queue
    assert "It has all fields of [session](#session), and:" in page.partition("### started\n")[2].partition("\n### ")[0]
    assert not re.search(r"\bNone\b|``\w|:\w+:`", page)


@pytest.mark.parametrize("name", PAGES)
def test_anchors_are_unique_and_links_lead_to_them(name: str) -> None:
    assert len({*anchors(PAGES[name])}) == len(anchors(PAGES[name]))
    for path, anchor in re.findall(r"\]\(([\w.]*\.md)?#([\w-]+)\)", PAGES[name]):
        assert anchor in anchors(PAGES[path or name]), f"{path}#{anchor}"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_whole_tables_and_no_markup_but_code_and_links(name: str) -> None:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(PAGES[name])
    inside = {child.type for token in tokens for child in token.children or ()}
    assert inside <= {"text", "text_special", "softbreak", "code_inline", "link_open", "link_close"}
    lines = [line for line in PAGES[name].splitlines() if line.startswith("|")]
    assert lines
    rows = sum(token.type == "tr_open" for token in tokens)
    heads = sum(token.type == "table_open" for token in tokens)
    assert rows + heads == len(lines)  # the line below a head is not a row
    for part in re.findall(r"(?:^\|.*\n)+", PAGES[name], re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in part.splitlines()}) == 1, part


def test_a_text_with_markup_stays_as_it_is() -> None:
    text = "*a* <b> [1<=x<=5] c\\*d | `e *f* | $g` ~h~ $i$"
    (_, row) = [*table(("one",), [(escaped(text),)])][1:]
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(f"| one |\n| --- |\n{row}\n")
    assert f"<td>{html.escape('*a* <b> [1<=x<=5] c')}\\*d | <code>e *f* | $g</code> ~h~ $i$</td>" in page
    assert r"\~h\~ \$i\$" in row  # code hosts strike out the one, and set the other as a formula
