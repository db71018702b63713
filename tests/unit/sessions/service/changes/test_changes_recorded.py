"""Recorded edits and the steps of a stream: each finds its own, whatever else was recorded."""

from collections.abc import Iterable, Iterator, Sequence

import factories
import pytest

from agentdash.sessions.agents.capabilities import RecordedEdit
from agentdash.sessions.model.session import Change, Step, StepKind, StepStatus, Turn
from agentdash.sessions.service.changes import session_changes
from agentdash.sessions.service.changes.session_changes import Recorded, with_diffs
from agentdash.sessions.transcript.additions import files_key

KEY = 3_158_754_356_770_738_860


def turn(n: int, started_at: int | None) -> Turn:
    return factories.turn(n, created_at=n * 1000, started_at=started_at)


def edit(at: int, mark: str, *paths: str, kind: str = "update") -> RecordedEdit:
    diff = f"@@ -1 +1 @@\n-x\n+{mark}"
    changes = (Change(path=path, kind=kind, diff=diff, added=1, removed=1) for path in paths)
    return RecordedEdit(at=at, changes=tuple(changes))


def step(
    n: int, *paths: str, kind: str = "update", status: StepStatus = StepStatus.OK, diff: str | None = None
) -> Step:
    changes = tuple(Change(path=path, kind=kind, diff=diff) for path in paths)
    return Step(turn=n, kind=StepKind.FILE_CHANGE, changes=changes, status=status)


class Transcript:
    """A transcript that grows when a test says so."""

    def __init__(self, *edits: RecordedEdit) -> None:
        self.edits = list(edits)

    def read_on(self) -> Iterator[RecordedEdit]:
        while self.edits:
            yield self.edits.pop(0)


def marks(found: Recorded, steps: Iterable[Step]) -> list[list[str]]:
    """The last character of every diff that was found for each step."""
    told = with_diffs(found, steps)
    return [[(change.diff or "")[-1:] for change in one.changes if change.diff] for one in told]


def dealt(edits: Sequence[RecordedEdit], steps: Iterable[Step], turns: int = 1) -> list[list[str]]:
    begun = [turn(n, n * 1000) for n in range(1, turns + 1)]
    return marks(Recorded(lambda *_: Transcript(*edits), begun, "thread"), steps)


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
    assert dealt(edits, [own, running, step(1, "/x")]) == [["@"], [], ["a"]]


def test_a_transcript_is_opened_once_by_the_name_and_time_of_its_first_turn() -> None:
    asked = []

    def opened(thread: str, at: int) -> Transcript:
        asked.append((thread, at))
        return Transcript(edit(2100, "b", "/x")) if thread == "second" else Transcript()

    found = Recorded(opened, [turn(1, None), turn(2, 2050), turn(3, 3000)], None)
    steps = [
        one
        for n, name in ((1, "first"), (2, "second"), (3, "second"))
        for one in (Step(turn=n, kind=StepKind.START, agent_session=name), step(n, "/x"))
    ]
    assert marks(found, steps) == [[], [], [], ["b"], [], []]
    assert asked == [("first", 1000), ("second", 2050)]
    assert not found.sought_in_vain


def test_a_missing_transcript_is_told_only_where_it_was_needed() -> None:
    found = Recorded(lambda *_: None, [turn(1, 1000)], "thread")
    assert marks(found, [step(1, "/x", diff="@@")]) == [["@"]]
    assert not found.sought_in_vain
    (told,) = with_diffs(found, [step(1, "/x")])
    assert found.sought_in_vain
    assert [change.no_diff for change in told.changes] == ["the agent's transcript was not found"]


def test_an_edit_that_the_transcript_does_not_have_is_told_from_a_missing_transcript() -> None:
    (told,) = with_diffs(Recorded(lambda *_: Transcript(), [turn(1, 1000)], "thread"), [step(1, "/x")])
    assert [change.no_diff for change in told.changes] == ["the agent's transcript has none"]


def test_an_agent_that_keeps_no_transcripts_is_not_blamed() -> None:
    found = Recorded(None)
    assert list(with_diffs(found, [step(1, "/x")])) == [step(1, "/x")]
    assert not found.sought_in_vain


def test_a_session_without_a_conversation_has_no_transcript() -> None:
    def never(*_: object) -> None:
        pytest.fail("it was asked for a transcript")

    assert marks(Recorded(never, [turn(1, 1000)], None), [step(1, "/x")]) == [[]]


def test_nothing_is_opened_before_a_step_needs_it() -> None:
    def never(*_: object) -> None:
        pytest.fail("it was asked for a transcript")

    steps = [Step(kind=StepKind.MESSAGE, text="x"), step(1, "/x", diff="@@"), step(1, "/y", status=StepStatus.RUNNING)]
    assert list(with_diffs(Recorded(never, [turn(1, 1000)], "thread"), steps)) == steps


def test_what_comes_later_is_found_at_the_next_look() -> None:
    transcript = Transcript()
    found = Recorded(lambda *_: transcript, [turn(1, 1000)], "thread")
    steps = [step(1, "/x"), step(1, "/x")]
    assert marks(found, steps) == [[], []]
    transcript.edits.append(edit(1100, "a", "/x"))
    assert marks(found, steps) == [["a"], []]
    transcript.edits.append(edit(1200, "b", "/x"))
    assert marks(found, steps) == [["a"], ["b"]]


def test_a_transcript_that_comes_late_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    there: list[Transcript] = []
    found = Recorded(lambda *_: there[0] if there else None, [turn(1, 1000)], "thread")
    now = [50.0]
    monkeypatch.setattr(session_changes, "monotonic", lambda: now[0])
    assert marks(found, [step(1, "/x")]) == [[]]
    there.append(Transcript(edit(1100, "a", "/x")))
    assert marks(found, [step(1, "/x")]) == [[]], "it is not looked for at every step"
    now[0] += session_changes.SOUGHT_AGAIN_SECONDS
    assert marks(found, [step(1, "/x")]) == [["a"]]


def test_a_turn_that_begins_later_gets_its_own_edits() -> None:
    found = Recorded(lambda *_: Transcript(edit(1100, "a", "/x"), edit(2100, "b", "/x")), [turn(1, 1000)], "thread")
    assert marks(found, [step(1, "/x")]) == [["a"]]
    found.know([turn(1, 1000), turn(2, 2000)])
    assert marks(found, [step(1, "/x"), step(1, "/x"), step(2, "/x")]) == [["a"], [], ["b"]]


def test_a_file_that_was_only_moved_lost_and_gained_no_line() -> None:
    moved = RecordedEdit(at=1100, changes=(Change(path="/x", kind="update", moved_to="/y"),))
    (told,) = with_diffs(Recorded(lambda *_: Transcript(moved), [turn(1, 1000)], "thread"), [step(1, "/x")])
    assert [(change.moved_to, change.lines, change.no_diff) for change in told.changes] == [("/y", (0, 0), None)]


def test_beyond_the_room_only_counts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_changes, "TEXT_CHARACTERS", 1)
    edits = edit(1100, "a", "/x"), edit(1200, "b", "/x")
    found = Recorded(lambda *_: Transcript(*edits), [turn(1, 1000)], "thread")
    first, second = (one.changes[0] for one in with_diffs(found, [step(1, "/x"), step(1, "/x")]))
    assert (first.cut, second.cut, second.diff, second.lines) == (False, True, "", (1, 1))


def test_the_key_of_some_files_is_the_same_in_every_process() -> None:
    # It is kept on disk with the index of a long turn file.
    assert files_key([Change(path="/x", kind="add"), Change(path="/y", kind="update")]) == KEY
    assert files_key([Change(path="/y", kind="update"), Change(path="/x", kind="add")]) == KEY
    assert files_key([Change(path="/x", kind="update"), Change(path="/y", kind="add")]) != KEY
    assert files_key([Change(path="\ud800", kind="add")]) >= 0
