"""Every total of real agents equals the sum of what the model server itself reported, by its own log (``served``)."""

import pytest
from e2e.test_live import kill_runner
from real_clis import CLAUDES, EVERY_CLI, NEWEST
from served import NOTHING, UNKNOWN, added, listed, printed

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.costs.cost import cost_words
from agentdash.sessions.rules.costs.usage_totals import session_cost, session_tokens
from agentdash.sessions.rules.launch import Start

pytestmark = pytest.mark.real

MINUTE = 60
FREE = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}
OTHER_MODEL = {"claude": "claude-sonnet-5", "codex": "gpt-5.4"}
WAYS = [(cli, live) for cli in EVERY_CLI for live in (True, False)]


class Talk:
    """One session of a real agent, prompted turn by turn."""

    def __init__(self, manager, agent, project, live):
        self.manager, self.agent = manager, agent
        self._project, self._live = project, live
        self.session = None

    def say(self, prompt, status=Status.DONE):
        if self.session is None:
            options = FREE[self.agent] | {"live": self._live}
            self.session = self.manager.spawn(Start(prompt, agent=self.agent, cwd=str(self._project), options=options))
        else:
            self.manager.prompts.inject(self.session.id, prompt)
        return self.ended(status)

    def ended(self, status=Status.DONE):
        self.session = self.manager.wait([self.session.id], timeout=3 * MINUTE)[0]
        assert self.session.status is status, (self.session.reason, self.manager.reader.explain(self.session.id))
        return self.session


@pytest.fixture
def talk(request, manager, use_agent, tmp_path):
    cli, live = request.param
    project = tmp_path / "project"
    project.mkdir()
    return Talk(manager, use_agent(cli), project, live)


def by_way(way):
    return f"{way[0]}-{'live' if way[1] else 'by-turns'}"


def agrees(talk, served):
    """Assert that session, day and lead have the served tokens; return those of each model."""
    total = served.tokens()
    assert listed(talk.session) == total
    for by in ("day", "lead", "session", "agent", "folder"):
        groups, whole = printed(by)
        assert (list(groups.values()), whole) == ([total], total), by
    assert printed("day", "--family", talk.session.id)[1] == total
    printed_models, whole = printed("model")
    assert whole == total
    # Claude 2.1.197 adds the size of the model's context to its name, if that is the larger one.
    named = {}
    for name, tokens in printed_models.items():
        if tokens != UNKNOWN:
            named.setdefault(name.removesuffix("[1m]"), []).append(tokens)
    models = {name: added(each) for name, each in named.items()}
    assert models == served.by("model")
    turns = talk.manager.reader.turns(talk.session.id)
    known = [turn.usage for turn in turns if turn.usage.known]
    sums = [(one.input_tokens, one.cached_input_tokens, one.cache_write_tokens, one.output_tokens) for one in known]
    assert added(sums) == total
    return models


@pytest.mark.parametrize("talk", WAYS, indirect=True, ids=by_way)
def test_a_session_whose_model_is_changed_has_a_row_for_each_model(talk, served):
    talk.say("[[fake:uses]] first")
    talk.manager.adjuster.model(talk.session.id, OTHER_MODEL[talk.agent])
    talk.say("[[fake:work]] second")
    first, second = agrees(talk, served).values()
    assert {first, second} == {(21_000, 7_500, 4_500, 640), (13_200, 5_000, 0, 165)}


@pytest.mark.parametrize("talk", [("codex", True)], indirect=True, ids=by_way)
@pytest.mark.parametrize("killed", [False, True], ids=["", "runner killed"])
def test_a_turn_keeps_its_model_if_another_is_chosen_while_it_runs(talk, served, wait_until, at, tmp_path, killed):
    talk.say("[[fake:plain]] first")
    talk.manager.prompts.inject(talk.session.id, "[[fake:uses_later]] second")
    wait_until(lambda: served.tokens(scenario="uses_later")[0], what="the first call of the second turn")
    chosen = talk.manager.adjuster.model(talk.session.id, OTHER_MODEL[talk.agent])
    assert chosen.effect == "from turn 3 on"
    if killed:
        kill_runner(talk.manager, talk.session, wait_until)
    (tmp_path / "project" / "go").touch()
    talk.session = at(talk.session, 2, Status.DONE)
    assert list(agrees(talk, served)) == ["gpt-5.5"]
    assert talk.session.model == OTHER_MODEL[talk.agent]
    talk.say("[[fake:uses]] third")
    assert agrees(talk, served)[OTHER_MODEL[talk.agent]] == (21_000, 7_500, 4_500, 640)


@pytest.mark.parametrize("talk", [(cli, False) for cli in CLAUDES], indirect=True, ids=by_way)
def test_one_turn_whose_sub_agent_has_another_model_has_two_rows(talk, served):
    talk.say("[[fake:uses_two_models]] uses")
    assert len(agrees(talk, served)) == 2
    assert served.tokens(scenario="uses") == (21_000, 7_500, 4_500, 640)
    # The totals of a resumed claude go on (2.1.330) or begin again (2.1.197).
    talk.say("[[fake:uses]] again")
    agrees(talk, served)


@pytest.mark.parametrize("talk", [(NEWEST, True)], indirect=True, ids=by_way)
def test_a_sub_agent_that_outlives_the_turn_of_a_live_claude_counts_in_the_next(talk, served, at, tmp_path):
    """2.1.330 ends the turn while its sub-agent works, and begins the next when it is back; 2.1.197 waits for it."""
    talk.say("[[fake:uses_two_models]] uses_later")
    (tmp_path / "project" / "go").touch()
    talk.session = at(talk.session, 2, Status.DONE)
    assert len(agrees(talk, served)) == 2
    assert served.tokens(scenario="uses_later") == (6_500, 1_000, 1_200, 105)


@pytest.mark.parametrize("talk", [*((cli, live) for cli in CLAUDES for live in (True, False)), ("codex", True)],
                         indirect=True, ids=by_way)  # fmt: skip
def test_the_calls_of_a_compaction_count_once(talk, served):
    talk.say("[[fake:uses]] go")
    talk.say("[[fake:long]] more")
    before = served.tokens()
    talk.manager.compacting.compact(talk.session.id)
    talk.ended()
    own = tuple(now - then for now, then in zip(served.tokens(), before, strict=True))
    assert own[0] > 0 and own[3] > 0, "a compaction asks the model"
    usage = talk.manager.reader.turns(talk.session.id)[-1].usage
    assert (usage.input_tokens, usage.output_tokens) == (own[0], own[3])
    agrees(talk, served)
    found = talk.manager.store.database.rows("SELECT session, turn, tokens_before FROM compactions")
    assert [(row["session"], row["turn"]) for row in found] == [(talk.session.id, 3)]
    assert found[0]["tokens_before"] > 0
    talk.say("[[fake:uses]] after it")
    agrees(talk, served)


@pytest.mark.parametrize("talk", WAYS, indirect=True, ids=by_way)
def test_turns_that_fail_count_what_was_served_and_nothing_twice(talk, served):
    talk.say("[[fake:uses_and_fails]] fail at once", Status.FAILED)
    cost = talk.say("[[fake:uses]] go").cost_usd
    agrees(talk, served)
    before = served.tokens()
    failed = talk.say("[[fake:err400]] fail", Status.FAILED)
    assert served.tokens() == before, "a refusal has no tokens"
    assert failed.cost_usd == pytest.approx(cost)
    agrees(talk, served)
    talk.say("[[fake:uses_and_fails]] fail in the second call", Status.FAILED)
    agrees(talk, served)
    talk.say("[[fake:uses]] again")
    agrees(talk, served)


@pytest.mark.parametrize(
    ("talk", "script"),
    [*((way, "uses_too_much") for way in WAYS), *((("codex", live), "uses_below_zero") for live in (True, False))],
    indirect=["talk"],
)
def test_a_figure_that_cannot_be_read_is_unknown_and_not_zero(talk, script):
    """Claude itself counts a negative number as 0, with a cost of its own."""
    talk.say("[[fake:uses]] go")
    known = listed(talk.session)
    session = talk.say(f"[[fake:{script}]] more")
    assert talk.manager.reader.turns(session.id)[-1].usage.input_tokens is None
    assert listed(session)[0] == known[0]
    assert (session_tokens(session)[0], cost_words(session_cost(session))[0]) == ("≥", "≥")


@pytest.mark.parametrize("script", ["drop", "midfail"])
@pytest.mark.parametrize("talk", [("codex", True), ("codex", False)], indirect=True, ids=by_way)
def test_a_call_of_codex_that_breaks_off_counts_nothing_and_is_not_zero(talk, served, script):
    talk.say("[[fake:uses]] go")
    talk.say(f"[[fake:{script}]] break", Status.FAILED)
    agrees(talk, served)
    assert served.tokens() != NOTHING
    assert not talk.manager.reader.turns(talk.session.id)[-1].usage.known
    talk.say("[[fake:uses]] again")
    agrees(talk, served)
