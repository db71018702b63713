"""What of a conversation is visible: histories of random acts beside a model that copies whole lists."""

from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.compaction import BY_AGENT
from agentdash.sessions.rules.conversation.continuation import Continuation, Recorded
from agentdash.sessions.rules.conversation.history import History, Marked, Part, Place, step_is_visible
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind

ACTS = st.lists(
    st.tuples(st.sampled_from(["turn", "turn", "rewind", "undo", "compact"]), st.integers(0, 5), st.integers(0, 3)),
    max_size=25,
)


class Model:
    """A conversation whose visible parts are a list that is copied before each act."""

    def __init__(self):
        self.turns = 0
        self.marks, self.view, self.before, self.ends = [], [], {}, {}

    def act(self, what, number, step):
        getattr(self, what)(number, step)

    def turn(self, *_):
        self.turns += 1
        self.view = [*self.view, Part(turn=self.turns)]
        self.ends[self.turns] = self.view

    def rewind(self, number, step):
        if number == 0:
            self._mark([], MarkKind.REWIND)
        elif number <= self.turns:
            part = Part(turn=number, through=step)
            self._mark([*self.ends[number][:-1], part], MarkKind.REWIND, turn=number, step=step)
        else:
            self._mark(self.view, MarkKind.REWIND, moves=False, turn=number, step=step)

    def undo(self, number, _):
        known = number in self.before
        self._mark(self.before.get(number, self.view), MarkKind.UNDO, moves=known, undoes=number)

    def compact(self, *_):
        """A compaction has a turn of its own, which an undo hides with it."""
        before = self.view
        self.turn()
        self._mark(None, MarkKind.COMPACT, turn=self.turns)
        self.before[len(self.marks)] = before

    def _mark(self, view, kind, moves=True, **fields):
        mark = Mark(id=len(self.marks) + 1, session="s", kind=kind, after=self.turns, **fields)
        self.marks.append(mark)
        if moves:
            self.before[mark.id] = self.view
        self.view = [Part(mark=mark)] if view is None else view

    def history(self, marks=None):
        return History(range(1, self.turns + 1), self.marks if marks is None else marks)


def made(acts):
    model = Model()
    for act in acts:
        model.act(*act)
    return model


def rewind(number, after, turn=None, step=None):
    return Mark(id=number, session="s", kind=MarkKind.REWIND, after=after, turn=turn, step=step)


def compaction(number, turn):
    return Mark(id=number, session="s", kind=MarkKind.COMPACT, after=turn, turn=turn, data={"by": BY_AGENT})


def undo(number, after, undoes):
    return Mark(id=number, session="s", kind=MarkKind.UNDO, after=after, undoes=undoes)


@given(ACTS)
def test_the_view_is_that_of_a_list_that_each_act_copies(acts):
    model = made(acts)
    assert model.history().parts() == model.view


@given(ACTS)
def test_an_undo_shows_exactly_what_was_visible_before_the_act_it_takes_back(acts):
    model = made(acts)
    for mark in model.marks:
        undone = undo(len(model.marks) + 1, model.turns, mark.id)
        view = model.history([*model.marks, undone]).parts()
        assert view == model.before.get(mark.id, model.view)


@given(ACTS)
def test_marks_without_a_target_are_ignored_and_named(acts):
    model = made(acts)
    assert [mark.id for mark in model.history().ignored] == [m.id for m in model.marks if m.id not in model.before]


@given(ACTS, st.integers(1, 6), st.integers(0, 4))
def test_a_step_is_visible_if_one_of_the_parts_has_it(acts, turn, step):
    model = made(acts)
    parts = [part for part in model.view if part.turn == turn]
    shown = any(part.through is None or step <= part.through for part in parts)
    assert step_is_visible(model.history().visible_turns(), turn, step) == shown


def test_turns_after_a_rewind_follow_the_step_and_hide_nothing_else():
    history = History([1, 2, 3, 4], [rewind(1, after=3, turn=1, step=2)])
    assert history.parts() == [Part(turn=1, through=2), Part(turn=4)]


def test_a_rewind_of_a_rewind_can_go_to_a_step_that_the_first_one_hid():
    history = History([1, 2, 3], [rewind(1, after=2, turn=1), rewind(2, after=3, turn=2, step=4)])
    assert history.parts() == [Part(turn=1), Part(turn=2, through=4)]


def test_a_rewind_without_a_turn_goes_to_the_beginning_and_keeps_what_a_fork_began_with():
    fork = Mark(id=1, session="s", kind=MarkKind.FORK, after=0, turn=3, step=1, origin="o")
    assert History([1, 2], [rewind(2, after=2)]).parts() == []
    assert History([1, 2], [fork, rewind(2, after=2)]).parts() == [Part(mark=fork)]


def test_the_newest_act_that_was_not_taken_back_is_the_next_to_undo():
    marks = [rewind(1, after=2, turn=1), rewind(2, after=2, turn=1, step=0)]
    assert History([1, 2], marks).undoable() == marks[1]
    assert History([1, 2], [*marks, undo(3, 2, 2)]).undoable() == marks[0]
    assert History([1, 2], [*marks, undo(3, 2, 2), undo(4, 2, 1)]).undoable() is None
    # The undo of an undo is in force: what it brought back can be taken back again.
    assert History([1, 2], [*marks, undo(3, 2, 2), undo(4, 2, 3)]).undoable() == marks[1]


def test_a_takeover_and_a_mark_of_a_newer_version_change_nothing():
    marks = [
        Mark(id=1, session="s", kind=MarkKind.TAKEOVER, after=1, turn=2),
        Mark(id=2, session="s", kind="braid", after=2),
    ]
    history = History([1, 2], marks)
    assert history.parts() == [Part(turn=1), Part(turn=2)]
    assert history.ignored == marks[1:]


def going_on(marks, talks):
    return Recorded(None, tuple(marks), talks).continuation()


def test_the_next_turn_resumes_the_conversation_of_the_last_visible_turn():
    assert Recorded("a").continuation() == Continuation(conversation="a")
    assert Recorded(None).continuation() == Continuation()
    assert going_on([rewind(1, after=2, turn=1)], {1: None, 2: "a"}) == Continuation(retold=True)


def test_after_a_rewind_the_conversation_is_forked_and_after_its_undo_resumed():
    back = rewind(1, after=2, turn=1)
    talks = {1: "a", 2: "a"}
    assert going_on([back], talks) == Continuation(conversation="a", fork=Place(1))
    both = [back, undo(2, after=2, undoes=1)]
    assert going_on(both, talks) == Continuation(conversation="a")
    # A turn was made in the fork before the undo: the first conversation is as it was.
    later = [back, undo(2, after=3, undoes=1)]
    assert going_on(later, talks | {3: "b"}) == Continuation(conversation="a")


def test_a_rewind_to_the_last_turn_of_a_conversation_needs_no_fork():
    back = rewind(1, after=3, turn=2)
    assert going_on([back], {1: "a", 2: "a", 3: "b"}) == Continuation(conversation="a")


def test_a_fork_goes_on_in_the_conversation_of_its_origin_and_a_summary_in_a_new_one():
    fork = Mark(id=1, session="s", kind=MarkKind.FORK, after=0, turn=3, step=1, origin="o", data={"conversation": "a"})
    assert going_on([fork], {}) == Continuation("a", Place(3, 1), "o")
    compact = Mark(id=2, session="s", kind=MarkKind.COMPACT, after=2, turn=2)
    history = History([1, 2], [compact])
    assert history.position == Marked(2)
    assert going_on([compact], {1: "a", 2: "a"}) == Continuation(retold=True)
    by_agent = compaction(2, 2)
    assert going_on([by_agent], {1: "a", 2: "a"}) == Continuation(conversation="a")


def test_no_fork_reaches_back_over_a_compaction_because_claude_garbles_it():
    talks = {1: "a", 2: "a", 3: "a", 4: "a"}
    marks = [compaction(1, 2), undo(2, after=2, undoes=1)]
    assert History([1, 2], marks).parts() == [Part(turn=1)], "its own turn is hidden with it"
    assert going_on(marks, {1: "a", 2: "a"}) == Continuation(retold=True)
    back = [compaction(1, 2), rewind(2, after=4, turn=1)]
    assert going_on(back, talks) == Continuation(retold=True)
    # Behind the compaction a fork is one of the conversation as it is.
    behind = [compaction(1, 2), rewind(2, after=4, turn=3)]
    assert going_on(behind, talks) == Continuation("a", Place(3))
    # A turn in a conversation of its own is resumed, whatever was compacted elsewhere.
    other = [compaction(1, 3), undo(2, after=3, undoes=1)]
    assert going_on(other, {1: "a", 2: "b", 3: "c"}) == Continuation("b")
