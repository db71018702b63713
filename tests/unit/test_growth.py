"""No text of an agent, whatever its size and its characters, takes much more than in proportion to its length."""

import importlib
import inspect
import re

import growth
import pytest
from growth import Attack, Pattern, explodes, growing, modules, patterns
from repetition import repeated

from agentdash.sessions.rules.asks import simple_command

BOUNDED = {"agentdash.sessions.rules.asks.simple_command._TOKEN": simple_command.MOST_CHARACTERS}
"""Patterns that get no longer text than this."""

PURE = tuple(
    f"agentdash.{room}."
    for room in (
        "sessions.text", "sessions.rules", "sessions.transcript.visible", "sessions.transcript.export.quoting",
        "sessions.agents.parsing.json_repair", "sessions.agents.claude.project.project_text",
        "sessions.mcp.orchestration.quoting", "widgets.drawing", "widgets.document.diff", "widgets.table.row_detail",
    )
)  # fmt: skip
"""The rooms whose functions of a text have no effects."""

OURS = frozenset({"folder", "cwd", "place", "sign"})
"""Arguments that no agent gives: folders, places that were found, and the sign of a line of a diff."""

SPECIAL = "[](){}<>`*_~#|>-+=.!?,:;'\"\\/@&$%^ \t\n\r0a\x1b\x00\x07\x9b\u202e\u200d\ud800漢é"
MIXED = (
    "\x1b[", "](", "[a](b", "`a", "**a", "a.)", "a_b ", "- a\n", "\n\n", '\\"', "<a ", "a@b", "$(", "1.", "--- a\n",
    "\x1b]0;", "\x1b[31m", "```\n", "> ", "| a ", "'\"", "@@ -1 +1 @@\n", "x? ", "https://a/", "models/",
)  # fmt: skip


@pytest.mark.parametrize(
    ("bad", "method"),
    [
        (r"\[([^\]]*)\]\(", "search"),
        pytest.param(r"(`+).+?\1", "sub", marks=pytest.mark.slow),
        pytest.param(r"(a|a)*b", "match", marks=pytest.mark.slow),
    ],
)
def test_a_pattern_that_goes_back_again_and_again_is_found(bad, method):
    assert growing(Pattern("here", re.compile(bad), frozenset({method})))


def test_a_pattern_that_never_goes_back_is_not_found():
    assert not growing(Pattern("here", re.compile(r"\[[^\[\]]*+\]"), frozenset({"search"})))


def test_every_pattern_is_found_in_the_package():
    found = {pattern.where for pattern in patterns()}
    known = {"agentdash.sessions.rules.prompts.questions._LINK", "agentdash.widgets.document.diff._WORD"}
    assert found >= known | set(BOUNDED)
    assert any(where.startswith("agentdash.tui.texts.screen_texts:") for where in found)  # written in a call


def test_the_work_of_a_pattern_does_not_grow_faster_than_a_text():
    assert all(most <= 10_000 for most in BOUNDED.values())
    free = [pattern for pattern in patterns() if pattern.where not in BOUNDED]
    assert {pattern.where: found for pattern in free if (found := growing(pattern))} == {}


def functions():
    """The functions of the pure rooms that need no more than texts and numbers."""
    for name in modules():
        if name.startswith(PURE) or f"{name}." in PURE:
            for one in vars(importlib.import_module(name)).values():
                if inspect.isfunction(one) and one.__module__ == name and called_with(one) is not None:
                    yield one


def called_with(function):
    """The arguments that a function needs, each text None; None if it needs anything else."""
    kinds = {str: None, "str": None, int: 80, "int": 80, bool: False, "bool": False}
    needed = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
    if any(one.annotation not in kinds or one.kind is one.VAR_KEYWORD for one in needed):
        return None
    arguments = {one.name: "/" if one.name in OURS else kinds[one.annotation] for one in needed}
    return arguments if None in arguments.values() else None


def work_of(function):
    def work(text):
        arguments = {name: text if value is None else value for name, value in called_with(function).items()}
        try:
            made = function(**arguments)
            if inspect.isgenerator(made):
                list(made)
        except Exception:
            pass  # a text may be refused

    return work


TEXTS = [Attack("", part, end) for part in (*SPECIAL, *MIXED) for end in growth.ENDS]


def exploding(length_of, texts):
    """Each function with the texts for which its work grows faster than their length."""
    works = {f"{one.__module__}.{one.__name__}": work_of(one) for one in functions()}
    assert len(works) > 100
    found = {name: [text for text in texts if explodes(work, text, length_of(text))] for name, work in works.items()}
    return {name: texts for name, texts in found.items() if texts}


def test_the_work_of_a_text_rule_does_not_grow_faster_than_a_text():
    assert exploding(lambda text: growth.LENGTHS[0], TEXTS[::2]) == {}


@pytest.mark.slow
@pytest.mark.torture
def test_the_work_of_a_text_rule_does_not_grow_faster_than_a_text_with_an_end_or_a_long_one():
    short, long = growth.LENGTHS
    assert exploding(lambda text: short, TEXTS[1::2]) == {}
    assert exploding(lambda text: repeated(long, 250_000 if text.pump in SPECIAL else long), TEXTS[1::2]) == {}
