"""Compaction with the real agent CLIs: what the model is sent after it, after the next prompt, and after its undo."""

import json

import pytest
from isolation import work_folder
from real_clis import CLAUDES

from agentdash.sessions.model.compaction import BY_AGENT, BY_SUMMARY
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.launch import Start

pytestmark = [pytest.mark.real]

MINUTE = 60
WAYS = [
    *((cli, live, False) for cli in CLAUDES for live in (False, True)),
    ("codex", True, False),
    ("codex", False, False),
    (next(iter(CLAUDES)), True, True),
]


class Talk:
    """A session with a real agent, prompted one turn at a time."""

    def __init__(self, manager, fake_model, agent, folder, live):
        self.manager, self.model = manager, fake_model
        options = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}
        start = Start("[[fake:work]] FIRST: begin\nUSER: a line like a speaker's", agent=agent, cwd=str(folder),
                      options={**options[agent], "live": live})  # fmt: skip
        self.id = manager.spawn(start).id
        self.ended()
        self.say("[[fake:long]] SECOND request")

    def ended(self):
        session = self.manager.wait([self.id], timeout=3 * MINUTE)[0]
        assert session.status is Status.DONE, (session.reason, self.manager.reader.explain(self.id))
        return session

    def say(self, text):
        sent = self.manager.prompts.inject(self.id, text)
        session = self.ended()
        assert sent.session.turn <= session.turn
        return session

    def compact(self, words, *, summary):
        found = self.manager.compacting.compact(self.id, words, summary=summary)
        return found.by, self.ended()

    def sent(self, text):
        """The last request to the model that has this text, as text."""
        request = self.model.asked(text)[-1]
        return json.dumps(request.get("messages") or request.get("input"), ensure_ascii=False)

    @property
    def marks(self):
        return self.manager.store.marks.of_session(self.id)


@pytest.fixture
def talk(request, manager, fake_model, use_agent, tmp_path):
    cli, live, _ = request.param
    folder = tmp_path / "project"
    folder.mkdir()
    return Talk(manager, fake_model, use_agent(cli), folder, live)


@pytest.mark.parametrize("talk", WAYS, indirect=True, ids=lambda way: "-".join(map(str, way)))
def test_the_model_is_sent_the_summary_in_place_of_all_before_it_and_all_of_it_after_an_undo(talk, request, tmp_path):
    cli, live, summary = request.node.callspec.params["talk"]
    words = "" if cli == "codex" else "keep the paths"
    assert "does-not-exist.txt" in talk.sent("SECOND request")
    by, _ = talk.compact(words, summary=summary)
    assert by == (BY_SUMMARY if summary or (cli, live) == ("codex", False) else BY_AGENT)
    (mark,) = talk.marks
    assert (mark.kind, mark.turn, mark.after, mark.data["by"]) == (MarkKind.COMPACT, 3, 3, by)

    unique = f"AFTER {tmp_path.name} {cli} {live} {summary}"
    talk.say(unique)
    sent = talk.sent(unique)
    assert "does-not-exist.txt" not in sent, "the old tool calls are gone"
    if by == BY_SUMMARY:
        first, second = sent.index("FIRST: begin"), sent.index("SECOND request")
        assert first < second < sent.index(unique)
        assert "summary of the work on these requests" in sent

    undo = Mark(id=0, session=talk.id, kind=MarkKind.UNDO, after=4, undoes=mark.id, asked_by="you")
    undone = talk.manager.store.marks.add(undo, newest=mark.id)
    assert undone.undoes == mark.id
    last = f"UNDONE {tmp_path.name} {cli} {live} {summary}"
    talk.say(last)
    sent = talk.sent(last)
    assert "FIRST: begin" in sent and "SECOND request" in sent and "Done: notes.txt was created" in sent
    assert unique not in sent, "what was said after the compaction is not visible"


@pytest.mark.parametrize("live", [False, True])
def test_claude_that_finds_nothing_to_compact_fails_in_its_own_words_and_goes_on(
    manager, use_agent, fake_model, tmp_path, live
):
    options = {"permission_mode": "bypassPermissions", "live": live}
    agent = use_agent("claude-2.1.197")
    session = manager.spawn(Start("the only request", agent=agent, cwd=work_folder(tmp_path), options=options)).id
    manager.wait([session], timeout=3 * MINUTE)
    manager.compacting.compact(session)
    (ended,) = manager.wait([session], timeout=3 * MINUTE)
    assert (ended.status, ended.reason) == (Status.FAILED, "Not enough messages to compact.")
    assert manager.store.marks.of_session(session) == []
    unique = f"and then {tmp_path.name} {live}"
    manager.prompts.inject(session, unique)
    (ended,) = manager.wait([session], timeout=3 * MINUTE)
    assert ended.status is Status.DONE
    assert "the only request" in json.dumps(fake_model.asked(unique)[-1])


def test_codex_that_compacts_by_itself_has_it_in_its_record(manager, use_agent, fake_model, tmp_path):
    options = {"sandbox": "danger-full-access", "config": {"model_auto_compact_token_limit": 3100}}
    agent = use_agent("codex")
    start = Start("[[fake:work]] begin", agent=agent, cwd=work_folder(tmp_path), options=options)
    session = manager.spawn(start).id
    manager.wait([session], timeout=3 * MINUTE)
    manager.prompts.inject(session, "and go on")
    (ended,) = manager.wait([session], timeout=3 * MINUTE)
    found = manager.reader.steps.compactions(session)
    assert found, (ended.reason, manager.reader.explain(session))
    assert {one.turn for one in found} <= {1, 2}
    assert all(one.at >= ended.created_at and one.step is None for one in found)
    assert found[-1].tokens_before
