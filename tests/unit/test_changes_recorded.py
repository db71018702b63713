"""Recorded edits and the steps of a stream: each finds its own, whatever else was recorded."""

from collections.abc import Iterable, Sequence

import pytest

from agentdash.sessions.changes import recorded
from agentdash.sessions.changes.diffs import diff_of
from agentdash.sessions.changes.recorded import Recorded, RecordedChange, RecordedEdit
from agentdash.sessions.model import Change, Status, Step, StepKind, StepStatus, Turn


def turn(n: int, started_at: int | None) -> Turn:
    return Turn(session="s", n=n, status=Status.DONE, run_id="r", created_at=n * 1000, started_at=started_at)


def edit(at: int, mark: str, *paths: str, kind: str = "update") -> RecordedEdit:
    diff = diff_of(f"@@ -1 +1 @@\n-x\n+{mark}")
    return RecordedEdit(at=at, changes=tuple(RecordedChange(path=path, kind=kind, diff=diff) for path in paths))


def step(
    n: int, *paths: str, kind: str = "update", status: StepStatus = StepStatus.OK, diff: str | None = None
) -> Step:
    changes = tuple(Change(path=path, kind=kind, diff=diff) for path in paths)
    return Step(turn=n, kind=StepKind.FILE_CHANGE, changes=changes, status=status)


def marks(found: Recorded, steps: Iterable[Step]) -> list[list[str]]:
    """The last line of every diff that was found for each step."""
    return [[change.diff.text[-1:] if change.diff else "?" for change in found.of(one).values()] for one in steps]


def dealt(edits: Sequence[RecordedEdit], steps: Iterable[Step], turns: int = 1) -> list[list[str]]:
    begun = [turn(n, n * 1000) for n in range(1, turns + 1)]
    return marks(Recorded(lambda *_: edits, begun, "thread"), steps)


def test_edits_of_the_same_file_are_dealt_out_in_their_order() -> None:
    edits = [edit(1100, "a", "/x"), edit(1200, "b", "/x"), edit(1300, "c", "/y"), edit(1400, "d", "/x")]
    assert dealt(edits, [step(1, "/x"), step(1, "/x"), step(1, "/y"), step(1, "/x")]) == [["a"], ["b"], ["c"], ["d"]]


def test_an_edit_of_several_files_belongs_to_the_step_with_just_those() -> None:
    edits = [edit(1100, "a", "/x"), edit(1200, "b", "/y", "/x"), edit(1300, "c", "/y")]
    assert dealt(edits, [step(1, "/x", "/y"), step(1, "/y"), step(1, "/x")]) == [["b", "b"], ["c"], ["a"]]


def test_another_kind_of_edit_is_another_edit() -> None:
    assert dealt([edit(1100, "a", "/x", kind="add")], [step(1, "/x"), step(1, "/x", kind="add")]) == [[], ["a"]]


def test_a_step_of_which_nothing_was_recorded_shifts_no_other_turn() -> None:
    edits = [edit(2100, "b", "/x")]
    steps = [step(1, "/x", status=StepStatus.INTERRUPTED), step(2, "/x")]
    assert dealt(edits, steps, turns=2) == [[], ["b"]]


def test_what_somebody_did_between_two_turns_is_nobodys_step() -> None:
    edits = [edit(900, "0", "/x"), edit(1100, "a", "/x"), edit(1900, "h", "/x"), edit(2100, "b", "/x")]
    assert dealt(edits, [step(1, "/x"), step(2, "/x")], turns=2) == [["a"], ["b"]]


def test_a_step_with_its_own_diff_or_still_running_takes_nothing() -> None:
    edits = [edit(1100, "a", "/x")]
    own, running = step(1, "/x", diff="@@"), step(1, "/x", status=StepStatus.RUNNING)
    assert dealt(edits, [own, running, step(1, "/x")]) == [[], [], ["a"]]


def test_a_transcript_is_opened_once_by_the_name_and_time_of_its_first_turn() -> None:
    asked = []

    def opened(thread: str, at: int) -> list[RecordedEdit]:
        asked.append((thread, at))
        return [edit(2100, "b", "/x")] if thread == "second" else []

    found = Recorded(opened, [turn(1, None), turn(2, 2050), turn(3, 3000)], None)
    named = [
        Step(turn=n, kind=StepKind.START, agent_session=name)
        for n, name in ((1, "first"), (2, "second"), (3, "second"))
    ]
    assert list(found.noting(named)) == named
    assert marks(found, [step(1, "/x"), step(2, "/x"), step(3, "/x")]) == [[], ["b"], []]
    assert asked == [("first", 1000), ("second", 2050)]
    assert not found.sought_in_vain


def test_a_missing_transcript_is_told_only_where_it_was_needed() -> None:
    found = Recorded(lambda *_: None, [turn(1, 1000)], "thread")
    assert not found.of(step(1, "/x", diff="@@"))
    assert not found.sought_in_vain
    assert not found.of(step(1, "/x"))
    assert found.sought_in_vain


def test_a_session_without_a_conversation_has_no_transcript() -> None:
    def never(*_: object) -> None:
        pytest.fail("it was asked for a transcript")

    assert not Recorded(never, [turn(1, 1000)], None).of(step(1, "/x"))


def test_beyond_the_room_only_counts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "TEXT_CHARACTERS", 1)
    found = Recorded(lambda *_: [edit(1100, "a", "/x"), edit(1200, "b", "/x")], [turn(1, 1000)], "thread")
    first, second = (found.of(step(1, "/x"))["/x"].diff for _ in range(2))
    assert first is not None and second is not None
    assert (first.cut, second.cut, second.text, second.added, second.removed) == (False, True, "", 1, 1)
