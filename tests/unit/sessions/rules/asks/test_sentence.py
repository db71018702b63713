"""An ask in words that follow the agent's name."""

import pytest

from agentdash.sessions.rules.asks.answers import MOST_CELLS, sentence
from agentdash.sessions.rules.asks.model import Ask, AskKind


def ask(kind: AskKind, title: str) -> Ask:
    return Ask(key="k", kind=kind, title=title)


@pytest.mark.parametrize("kind", AskKind)
def test_a_question_is_asked_and_all_else_is_asked_for(kind: AskKind) -> None:
    lead = "asks: " if kind is AskKind.QUESTION else "asks to "
    assert sentence(ask(kind, "do it")) == f"{lead}do it"


def test_hostile_text_becomes_one_clean_line_of_bounded_length() -> None:
    said = sentence(ask(AskKind.COMMAND, "run: \x1b[31ma\n\u202eb" + "x" * 9_000))
    assert said.startswith("asks to run: ")
    assert said.isprintable()
    assert len(said) == MOST_CELLS
    assert said.endswith("…")
