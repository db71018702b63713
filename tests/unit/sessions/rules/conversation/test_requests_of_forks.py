"""The requests beside the summary of a forked session: all that are visible, in the user's order, each once."""

import re
import tempfile
from pathlib import Path

import pytest
from factories import add_turn
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from repetition import repeated
from talks import CODEX, Talk

from agentdash.sessions.model.compaction import Compaction
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.runner.taking_up import retold_prompt
from agentdash.sessions.service.manager import SessionManager

ACTS = st.lists(st.tuples(st.sampled_from(["turn", "compact", "fork", "fork"]), st.integers(0, 5)), max_size=9)


class Line:
    """A conversation that goes on from fork to fork, and the requests that are visible in it."""

    def __init__(self, manager, folder):
        self.manager, self.folder, self.number = manager, folder, 0
        self.visible, self.through = [], {}
        self.talk = self._begin(None)

    def _begin(self, mark):
        self.number += 1
        talk = Talk(self.manager, f"{self.number:016x}", self.folder, mark=mark)
        self._answered(talk, "prompt 1")
        return talk

    def _answered(self, talk, prompt):
        turn = talk.answered(conversation=f"0190f7a2-0000-7000-8000-{self.number:012d}")
        self.visible = [*self.visible, prompt]
        self.through[turn] = self.visible

    def turn(self, _):
        after = self.manager.store.newest_turn(self.talk.id).n
        prompt = f"prompt {after + 1} of {self.number}"
        assert add_turn(self.manager.store, self.talk.id, after, prompt, CODEX)
        self._answered(self.talk, prompt)

    def compact(self, _):
        after = self.manager.store.newest_turn(self.talk.id).n
        launch = structs.replace(CODEX, compacts=Compaction(by="summary", words=""))
        assert add_turn(self.manager.store, self.talk.id, after, "summarize it", launch)
        turn = self.talk.answered(conversation=f"0190f7a2-0000-7000-8000-{self.number:012d}")
        known = [mark.id for mark in self.manager.store.marks.of_session(self.talk.id)]
        mark = Mark(
            id=0, session=self.talk.id, kind=MarkKind.COMPACT, after=turn, turn=turn, step=3, data={"by": "summary"},
            asked_by="you",
        )  # fmt: skip
        self.manager.store.marks.add(mark, newest=max(known, default=0))

    def fork(self, choice):
        """Go on in a fork behind one of the turns."""
        turn = list(self.through)[choice % len(self.through)]
        made, acts = [], self.manager.conversation
        begin, acts._begin = acts._begin, lambda *parts: made.append(parts)
        acts.fork(self.talk.id, turn, None, "a fork")
        acts._begin = begin
        self.visible, self.through = self.through[turn], {}
        self.talk = self._begin(made[0][-1])

    def told(self):
        """The requests in the prompt that retells the conversation behind its summary."""
        text = retold_prompt(self.manager.layout, self.manager.store, self.talk.id, "go on")
        return re.findall(r"^=+ request \d+ of \d+, by the user\n(.*)$", text, re.MULTILINE)


@settings(max_examples=repeated(20, 200), deadline=None)
@given(ACTS)
def test_every_visible_request_is_told_in_order_and_once(acts):
    with tempfile.TemporaryDirectory() as folder, SessionManager(Path(folder) / "state") as manager:
        line = Line(manager, Path(folder))
        for act, choice in acts:
            getattr(line, act)(choice)
        line.compact(0)
        assert line.told() == line.visible


@pytest.mark.parametrize("compacted", [False, True])
def test_a_fork_that_is_compacted_keeps_the_requests_of_its_origin(tmp_path, compacted):
    with SessionManager(tmp_path / "state") as manager:
        line = Line(manager, tmp_path)
        line.turn(0)
        if compacted:
            line.compact(0)
            line.turn(0)
        line.fork(len(line.through) - 1)
        line.compact(0)
        later = ["prompt 4 of 1"] if compacted else []
        assert line.told() == ["prompt 1", "prompt 2 of 1", *later, "prompt 1"]
        manager.delete("0" * 15 + "1")
        assert len(line.told()) == 3 + len(later)  # it can be read in the trash
