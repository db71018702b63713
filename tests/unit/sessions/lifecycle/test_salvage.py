"""A record made again from turn files: which files are turns, whatever else lies beside them."""

import shutil

import pytest
from places import CAPTURES

from agentdash.sessions.lifecycle.salvage import salvaged
from agentdash.sessions.model import Status
from agentdash.sessions.storage.paths import SessionFolder

MORE_THAN_A_RANGE_HOLDS = "9" * 240


@pytest.fixture
def folder(tmp_path):
    found = SessionFolder(tmp_path / "11111111-1111-4111-8111-111111111111")
    found.create()
    return found


def put(folder, *numbers):
    """Turn files with these numbers, as their names have them."""
    for number in numbers:
        shutil.copyfile(CAPTURES / "codex-files.jsonl", folder.turns / f"turn_{number}.jsonl")


def turns(folder):
    found = salvaged(folder, "here")
    return [(turn.n, turn.status) for turn in found.turns] if found else None


@pytest.mark.parametrize("stray", [
    MORE_THAN_A_RANGE_HOLDS, "1000000", "12345678901", "0", "007", "\N{ARABIC-INDIC DIGIT THREE}",
    "\N{SUPERSCRIPT TWO}", "-2", "1.5", "x", "",
])  # fmt: skip
def test_a_file_whose_number_is_no_turns_makes_no_turns(folder, stray):
    put(folder, stray)
    assert turns(folder) is None
    put(folder, 1, 2)
    assert turns(folder) == [(1, Status.DONE), (2, Status.DONE)]


def test_turns_are_put_in_the_order_of_their_numbers_and_not_of_their_names(folder):
    put(folder, *range(1, 12))
    assert turns(folder) == [(n, Status.DONE) for n in range(1, 12)]


def test_of_a_turn_whose_file_is_gone_the_agent_is_known_from_the_next(folder):
    put(folder, 2)
    folder.prompt(2).write_text("what was asked")
    found = salvaged(folder, "here")
    assert found.session.agent == "codex"
    assert [(turn.n, turn.status) for turn in found.turns] == [(1, Status.LOST), (2, Status.DONE)]
    assert [prompt.text for prompt in found.prompts] == ["(prompt unknown)", "what was asked"]
