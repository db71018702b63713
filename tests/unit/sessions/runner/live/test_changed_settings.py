"""Settings of a live claude that change: no turn runs in another mode than the one that was chosen for it."""

import json

import pytest
from factories import no_prompts, request
from msgspec import structs

from agentdash.sessions.agents.claude.adapter import Claude
from agentdash.sessions.agents.claude.live.dialogue import ClaudeDialogue
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.adjustments import AdjustmentState
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.rules.launch import Start, plan_like
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.live.adjuster import Adjuster
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.channel import Channel, make_fifo
from agentdash.sessions.runner.live.courier import Courier
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.lifecycle.starts.launch_plan import build_launch
from agentdash.sessions.settings.config import Config
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.live_log import LiveLog
from agentdash.sessions.storage.turns.turn_log import TurnLog

SESSION = "0123456789abcdef"
OWNER = Owner(pid=2**22 - 2, start=1, boot_id=processes.boot_id(), pid_ns=processes.pid_namespace())
INIT = {"type": "system", "subtype": "init", "cwd": "/p", "permissionMode": "default"}


def launch(**options):
    start = Start("go", agent="claude", cwd="/p", session_id=SESSION, options={"permission_mode": "default"} | options)
    return build_launch(Config(), start)


@pytest.fixture
def store(tmp_path):
    """A live claude in its first turn."""
    layout = Layout(tmp_path / "state")
    layout.create()
    layout.session(SESSION).create()
    store = Store(layout.database)
    start = Start("begin", agent="claude", title="t", cwd="/p", session_id=SESSION)
    store.create(start, launch(), "r-1", host=processes.host_name())
    TurnLog(store, SESSION, 1, OWNER).claim()
    yield store
    store.close()


@pytest.fixture
def live(tmp_path):
    make_fifo(tmp_path / "stdin")
    channel = Channel(tmp_path / "stdin")
    live = LiveAgent(AgentChild(), channel, ClaudeDialogue(), launch=launch(), stream=1)
    prints(live, INIT)
    yield live
    channel.close()


@pytest.fixture
def adjuster(live, store):
    adjuster = Adjuster(live, store, SESSION, Claude())
    live.listener = adjuster.hear
    return adjuster


def prints(live, *lines):
    for line in lines:
        live.feed(json.dumps(line).encode(), live.position + 1)


def written(live):
    """Let claude read; the lines that it reads."""
    live.flush()
    return [json.loads(line) for line in live.channel.drain().splitlines()]


def answers(live, line, error=None):
    """Let claude answer a request."""
    response = {"subtype": "error", "error": error} if error else {"subtype": "success"}
    prints(live, {"type": "control_response", "response": {"request_id": line["request_id"], **response}})


def narrower(store):
    """Ask for a mode from now on."""
    return store.adjustments.request(
        SESSION, "mode", "plan", options={"permission_mode": "plan"}, counts_from="step", asked_by="you",
        planned=lambda plan: structs.replace(plan, settings={"permission_mode": "plan"}),
        relaunched=lambda launch: launch,
    )  # fmt: skip


def courier(live):
    return Courier(live, lambda *_: True, key="k", text="hello", state=PromptState.QUEUED, attempt=1)


def test_a_prompt_waits_until_the_agent_has_the_mode_of_its_turn(live):
    live.adjust(launch(permission_mode="plan"))
    prompt = courier(live)
    prompt.advance()
    [change] = written(live)
    assert change["request"] == {"subtype": "set_permission_mode", "mode": "plan"}
    prompt.advance()
    assert written(live) == []
    answers(live, change)
    prompt.advance()
    assert [line["type"] for line in written(live)] == ["user"]


def test_a_prompt_is_not_sent_to_an_agent_that_refuses_the_mode_of_its_turn(live):
    live.adjust(launch(permission_mode="plan"))
    prompt = courier(live)
    [change] = written(live)
    answers(live, change, "managed settings forbid it")
    prompt.advance()
    assert prompt.failed == "it refuses the mode plan: managed settings forbid it"
    assert (written(live), prompt.state) == ([], PromptState.QUEUED)


def test_a_runner_that_was_killed_while_it_changed_the_settings_has_them_changed_again(live):
    live.adjusted("mode", "plan")
    live.adjust(launch(permission_mode="plan"))
    assert written(live) == []
    live.adjust(launch(permission_mode="plan"), again=True)
    assert [line["request"]["mode"] for line in written(live)] == ["plan"]


def test_a_model_that_was_requested_by_an_alias_is_requested_once(live):
    live.adjust(launch(model="opus"))
    [change] = written(live)
    assert change["request"] == {"subtype": "set_model", "model": "opus"}
    live.model = "claude-opus-4-8"  # as the agent reports it
    live.adjust(launch(model="opus"))
    assert written(live) == []


def answered(store, verdict, kind=AskKind.EDIT, always="", stream=1):
    """An ask of a process that was answered."""
    asked = store.asks.record(SESSION, 1, stream, Ask(key=f"k{stream}", kind=kind, title="t", always=always))
    store.asks.answer(asked.id, Answer(verdict=verdict), "you")


GIVES = "permission mode acceptEdits for this session"
EDITS = {"type": "system", "subtype": "status", "permissionMode": "acceptEdits"}


@pytest.mark.parametrize("answer", [
    {}, {"verdict": Verdict.ALLOW, "always": GIVES}, {"verdict": Verdict.ALWAYS, "always": GIVES, "stream": 2},
    {"verdict": Verdict.ALWAYS, "always": "allow Bash(ls)"}, {"verdict": Verdict.DENY, "kind": AskKind.PLAN},
], ids=["no ask", "once", "another process", "another scope", "a plan that is denied"])  # fmt: skip
def test_a_wider_mode_that_only_the_output_reports_is_of_no_later_turn(live, store, adjuster, answer):
    if answer:
        answered(store, **answer)
    prints(live, EDITS)
    assert "permission_mode" not in store.recipe(SESSION).options
    assert (store.session(SESSION).mode, store.adjustments.of_session(SESSION)) == (None, [])
    # The process is brought back into the user's mode before the next turn.
    live.adjust(launch())
    assert [line["request"]["mode"] for line in written(live)] == ["default"]


def test_a_narrower_mode_that_the_output_reports_is_kept(live, store, adjuster):
    prints(live, {"type": "system", "subtype": "status", "permissionMode": "plan"})
    assert store.recipe(SESSION).options["permission_mode"] == "plan"


@pytest.mark.parametrize("answer", [
    {"verdict": Verdict.ALWAYS, "always": GIVES}, {"verdict": Verdict.ALLOW, "kind": AskKind.PLAN},
], ids=["for the session", "a plan"])  # fmt: skip
def test_a_mode_that_an_answer_gave_is_kept_by_later_turns_and_waiting_prompts(live, store, adjuster, answer):
    answered(store, **answer)
    store.queue.add(request(SESSION, "later", plan=plan_like(launch())), no_prompts)
    prints(live, {"type": "system", "subtype": "status", "permissionMode": "acceptEdits"})
    assert store.session(SESSION).mode == "acceptEdits"
    assert store.recipe(SESSION).options["permission_mode"] == "acceptEdits"
    [waiting] = store.queue.waiting(SESSION)
    assert waiting.plan.settings["permission_mode"] == "acceptEdits"
    assert live.launch.mode.permissions == "acceptEdits"
    [change] = store.adjustments.of_session(SESSION)
    assert (change.state, change.asked_by) == (AdjustmentState.IN_FORCE, "the agent")


def test_an_old_report_of_the_mode_undoes_no_change_of_the_user(live, store, adjuster):
    narrower(store)
    adjuster.look()
    adjuster.advance()
    [change] = written(live)
    answers(live, change)
    prints(live, INIT)
    [changed] = store.adjustments.of_session(SESSION)
    assert (changed.value, changed.state) == ("plan", AdjustmentState.IN_FORCE)
    assert store.recipe(SESSION).options["permission_mode"] == live.launch.mode.permissions == "plan"


def test_a_mode_without_limits_that_the_agent_took_by_itself_is_of_no_later_turn(live, store, adjuster):
    prints(live, {"type": "system", "subtype": "status", "permissionMode": "bypassPermissions"})
    assert "permission_mode" not in store.recipe(SESSION).options
    assert not live.serves(launch(), agent_named("claude"))


def test_a_change_that_the_agent_did_not_answer_is_not_written_in_a_later_turn(live, store, adjuster):
    asked = narrower(store)
    adjuster.look()
    done = Outcome(status=Status.DONE, reason=None, end_byte=7, warm=True)
    TurnLog(store, SESSION, 1, OWNER).end(Facts(end="completed"), done, 1, no_prompts)
    store.queue.add(request(SESSION, "more"), lambda *_: launch())
    TurnLog(store, SESSION, 2, OWNER).claim()
    assert store.adjustments.one(asked.id).state is AdjustmentState.NEXT
    assert store.adjustments.pending(SESSION) == []


@pytest.mark.parametrize("state", [PromptState.QUEUED, PromptState.SENDING, PromptState.SENT])
def test_a_prompt_under_way_that_waits_again_has_the_mode_that_was_chosen_meanwhile(store, state):
    log = LiveLog(store.database, SESSION)
    added = store.queue.add(request(SESSION, "a remark", steers=True, plan=plan_like(launch())), no_prompts)
    log.steered_is(added.id, state, 1)
    narrower(store)
    log.steered_is(added.id, PromptState.QUEUED, 1)
    [waiting] = store.queue.waiting(SESSION)
    assert waiting.plan.settings["permission_mode"] == "plan"


def test_a_change_that_could_not_be_recorded_as_refused_is_tried_again(live, store, adjuster, monkeypatch):
    narrower(store)
    adjuster.look()
    monkeypatch.setattr(live.dialogue, "change", lambda *_: None)
    with monkeypatch.context() as busy:
        busy.setattr(store.adjustments, "refused", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            adjuster.advance()
    adjuster.advance()
    [change] = store.adjustments.of_session(SESSION)
    assert change.state is AdjustmentState.REFUSED
