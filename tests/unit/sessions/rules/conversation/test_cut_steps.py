"""What was cut by going back, in what is printed of a session: marked in each form, and counted as done."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from recorded_sessions import lines, ran, record, said

from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.digest.collect import digest_lines
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.transcript.export.formats import FORMATS
from agentdash.tui.cli.main import cli

WENT_BACK, GOES_ON = "Went back: the following was cut", "The conversation goes on here."
TURNS = [
    ("first words", lines(said("first answer"))),
    ("wrong way", lines(ran("make test", 2), said("wrong answer", 1))),
    ("right way", lines(said("right answer"))),
]
BACK = Mark(id=1, session="", kind=MarkKind.REWIND, after=2, turn=1, asked_by="you", at=5)


@pytest.fixture
def manager():
    with SessionManager() as manager:
        yield manager


@pytest.fixture
def session(manager):
    """A session whose second turn was cut."""
    return record(manager, TURNS, marks=[BACK])


def written(manager, session, name):
    chosen = next(one for one in FORMATS if one.name == name)
    reader = manager.reader
    pieces = chosen.write(
        session, reader.steps.each_step(session.id), reader.turns(session.id), reader.steps.shown(session.id).has_cut
    )
    return "".join(pieces)


def printed(*words):
    result = CliRunner().invoke(cli, list(words), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def between(text):
    """What is between the two notes."""
    assert (text.count(WENT_BACK), text.count(GOES_ON)) == (1, 1)
    return text.partition(WENT_BACK)[2].partition(GOES_ON)[0]


@pytest.mark.parametrize("name", ["md", "html"])
def test_an_export_says_what_was_cut_and_where_the_conversation_goes_on(manager, session, name):
    text = written(manager, session, name)
    cut = between(text)
    assert "wrong answer" in cut and "make test" in cut
    assert "first answer" not in cut and "right answer" not in cut


@pytest.mark.parametrize("name", ["md", "html"])
def test_a_session_without_marks_has_no_note(manager, name):
    text = written(manager, record(manager, TURNS), name)
    assert WENT_BACK not in text and GOES_ON not in text


def test_cut_steps_are_named_in_json(manager, session):
    exported = json.loads(written(manager, session, "json"))["steps"]
    shown = json.loads(printed("trajectory", "--json", session.id))
    said_all = json.loads(printed("trajectory", "--messages", "--all", "--json", session.id))
    for steps in (exported, shown, said_all):
        assert {step["turn"] for step in steps if step.get("cut") is True} == {2}
        assert {step["turn"] for step in steps if "cut" not in step} == {1, 3}


def test_a_trajectory_says_what_was_cut(session):
    cut = between(printed("trajectory", session.id))
    assert "wrong answer" in cut and "right answer" not in cut


def test_the_verb_marks_them_in_a_file_too(session, tmp_path):
    target = tmp_path / "session.md"
    printed("export", session.id, "-o", str(target))
    assert "wrong answer" in between(Path(target).read_text())


def test_a_digest_counts_what_was_done_and_says_how_much_was_cut(manager, session):
    facts = manager.reader.steps.digest(session.id, whole=True)
    whole = manager.reader.steps.digest(record(manager, TURNS).id, whole=True)
    assert (facts.commands, facts.commands_failed) == (whole.commands, whole.commands_failed) == (1, 1)
    assert (facts.steps_cut, whole.steps_cut) == (3, 0)
    assert "3 steps cut by going back" in digest_lines(facts)[0]
    assert "cut" not in digest_lines(whole)[0]


def test_the_last_message_of_a_digest_is_one_that_was_not_cut(manager):
    session = record(manager, TURNS[:2], marks=[BACK])
    assert manager.reader.steps.digest(session.id, whole=True).last_message == "first answer"
