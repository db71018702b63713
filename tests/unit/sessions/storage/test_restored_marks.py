"""The numbers of marks, by which users name them, after a session was deleted and restored."""

import pytest
from recorded_sessions import lines, record, said

from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.service.manager import SessionManager


@pytest.fixture
def manager():
    with SessionManager() as opened:
        yield opened


def rewind(number, after, undoes=None):
    kind = MarkKind.REWIND if undoes is None else MarkKind.UNDO
    return Mark(
        id=number,
        session="",
        kind=kind,
        after=after,
        turn=None if undoes else after,
        undoes=undoes,
        asked_by="you",
        at=5,
    )


def numbers(manager, session):
    return [(mark.id, mark.undoes) for mark in manager.store.marks.of_session(session.id)]


def test_marks_keep_their_numbers_when_a_session_is_restored(manager):
    turns = [("one", lines(said("one"))), ("two", lines(said("two")))]
    session = record(manager, turns, marks=[rewind(7, 1), rewind(9, 2, undoes=7)])
    assert numbers(manager, session) == [(7, None), (9, 7)]
    manager.delete(session.id)
    manager.housekeeping.restore(session.id)
    assert numbers(manager, session) == [(7, None), (9, 7)]


def test_marks_get_new_numbers_if_another_session_has_theirs(manager):
    session = record(manager, [("one", lines(said("one")))], marks=[rewind(7, 1), rewind(9, 1, undoes=7)])
    manager.delete(session.id)
    other = record(manager, [("other", lines(said("one")))], marks=[rewind(7, 1)])
    manager.housekeeping.restore(session.id)
    assert numbers(manager, other) == [(7, None)]
    (first, _), (second, undoes) = numbers(manager, session)
    assert 7 not in (first, second)
    assert undoes == first < second
