"""Texts about queues and next prompts."""

import time
from datetime import UTC, datetime
from functools import partial

import factories
import pytest
from factories import T0
from msgspec import Raw, structs

from agentdash.sessions.model.session import Status, Stopping
from agentdash.sessions.rules.prompts.delivery import queue_state
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt
from agentdash.tui.texts import prompt_texts
from agentdash.widgets.table.row_cells import queue_marks

session = partial(factories.session, title="fix the flaky login test", turn=3)


def prompts(*texts, steers=False):
    return [
        QueuedPrompt(
            id=n, session="s1", key=str(n), text=text, state="queued", recorded_plan=Raw(b"{}"),
            created_at=T0, changed_at=T0, steers=steers,
        )
        for n, text in enumerate(texts)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "effect"),
    [
        ({"status": Status.DONE}, "turn 4"),
        ({"status": Status.RUNNING}, "queued #1, after turn 3"),
        ({"status": Status.RUNNING, "queued": 1}, "queued #2, after turn 3"),
        ({"status": Status.FAILED, "held": "turn 3 failed"}, "queued #1, held: turn 3 failed"),
        ({"status": Status.FAILED, "queued": 2, "held": "turn 3 failed"}, "queued #3, held: turn 3 failed"),
        ({"status": Status.DONE, "queued": 1}, "queued #2, after turn 3"),
        ({"status": Status.DONE, "queued": 1, "due_at": T0}, "turn 4"),
        ({"status": Status.RUNNING, "queued": 1, "due_at": T0}, "queued #2, after turn 3"),
        ({"status": Status.DONE, "warm_since": T0}, "turn 4, at once"),
        ({"status": Status.DONE, "warm_since": T0, "queued": 1}, "queued #2, after turn 3"),
    ],
)
def test_the_label_says_what_a_prompt_will_do(facts, effect):
    one = session(**facts)
    assert prompt_texts.effect(one) == effect
    assert prompt_texts.target(one, "a").endswith(f"({effect})")
    assert len(prompt_texts.target(one, "a")) <= 48


@pytest.mark.parametrize("status", [Status.RUNNING, Status.WAITING])
def test_a_prompt_to_a_live_session_at_work_steers_it(status):
    one = session(status=status, steers=True, queued=1)
    assert prompt_texts.effect(one) == "steers now: it reads this at its next step"
    assert prompt_texts.target(one, "a") == "→ fix the fla… (steers now: it reads this at its next step)"
    assert prompt_texts.prompt_hint(one, "Ctrl+T") == "Steer (Ctrl+T: interrupt and send)"


def test_a_prompt_to_a_session_that_asks_is_read_after_the_answer():
    one = session(status=Status.WAITING, steers=True, asking=1)
    assert prompt_texts.target(one, "a") == "→ fix the fla… (a answers first, or write: read after it)"
    assert prompt_texts.prompt_hint(one, "Ctrl+T") == "Read after your answer"


def test_a_prompt_to_a_live_session_whose_queue_is_held_waits():
    one = session(status=Status.RUNNING, steers=True, held="turn 2 failed", queued=1)
    assert prompt_texts.effect(one) == "queued #2, held: turn 2 failed"
    assert prompt_texts.prompt_hint(one) == "Queue a prompt"
    assert lines(one, prompts("use tabs", steers=True))[0] == "1 queued, held: turn 2 failed   Q to release"


def test_a_prompt_to_a_session_that_is_being_stopped_steers_nothing():
    one = session(status=Status.RUNNING, steers=True, stopping=Stopping(rung="SIGINT"))
    assert prompt_texts.effect(one) == "queued #1, after turn 3"
    assert prompt_texts.prompt_hint(one) == "Queue a prompt"


def test_an_interrupt_of_a_live_session_keeps_its_process():
    one = session(status=Status.RUNNING, steers=True, queued=2)
    assert prompt_texts.interrupt_effect(one) == (
        "Ends the turn and keeps its process for the next prompt. 2 queued prompts are held."
    )


def test_what_takes_no_prompt_says_why():
    assert prompt_texts.target(session(agent="command"), "a") == "plain command: no prompts"
    assert prompt_texts.target(session(deleted_at=1), "a") == "in the trash: no prompts"


def lines(one, waiting, *, width=60, most=3):
    return [line.plain for line in prompt_texts.queue_lines(one, waiting, width, most=most, queue_key="Q")]


def test_no_line_without_a_queue():
    assert lines(session(), []) == []


def test_the_lines_count_the_prompts_that_steer():
    one = session(status=Status.RUNNING, steers=True, queued=2)
    steering, later = prompts("use tabs", steers=True), prompts("then the docs")
    assert lines(one, steering + later)[0] == "1 steers at the next step   1 queued, after turn 3"
    assert lines(session(status=Status.RUNNING, steers=True, queued=1), steering) == [
        "1 steers at the next step   1 use tabs"
    ]
    # A turn that has ended reads nothing: the prompt is the next turn.
    assert lines(session(queued=1), steering) == ["1 queued, after turn 3   1 use tabs"]


def test_the_lines_show_the_first_prompts_and_count_the_others():
    waiting = prompts("fix the tests", "write the docs", "bump", "tag")
    one = session(queued=4)
    assert lines(one, waiting) == ["4 queued, after turn 3", "  1 fix the tests", "  2 write the docs   +2 more"]
    assert lines(one, waiting, most=1) == ["4 queued, after turn 3   1 fix the tests"]
    assert lines(one, waiting, most=1, width=30) == ["4 queued, after turn 3"]
    assert lines(session(queued=1), waiting[:1]) == ["1 queued, after turn 3   1 fix the tests"]


def test_no_line_is_wider_than_the_pane():
    waiting = prompts("x" * 200, "y" * 200, "z" * 200)
    assert max(map(len, lines(session(queued=3), waiting, width=40))) <= 40


def test_a_hold_and_an_unconfirmed_prompt_name_the_key_that_helps():
    assert lines(session(queued=1, held="turn 3 failed"), [])[0] == "1 queued, held: turn 3 failed   Q to release"
    assert lines(session(unconfirmed=1), []) == ["a prompt is unconfirmed   Q to send it again"]


def test_the_text_of_a_prompt_is_cleaned():
    assert lines(session(queued=1), prompts("a\x1b[31mb\nc"), width=80) == ["1 queued, after turn 3   1 ab c"]


def test_a_prompt_that_waits_for_a_time_shows_it(monkeypatch):
    monkeypatch.setenv("TZ", "UTC0")
    time.tzset()
    at = round(datetime(2026, 11, 27, 18, tzinfo=UTC).timestamp() * 1000)
    one, now = session(status=Status.DONE, queued=1, due_at=at), at - 3_600_000
    (prompt,) = (structs.replace(prompt, due_at=at) for prompt in prompts("rebase"))
    [line] = prompt_texts.queue_lines(one, [prompt], 80, most=3, queue_key="Q")
    assert line.plain == "1 queued, until Fri 27 Nov 18:00   1 rebase"
    [row] = prompt_texts.queue_row(one, 1, prompt, now, 60)
    assert "until 18:00 rebase" in "".join(text for text, _ in row)
    assert queue_marks(one, now) == [("+1 until 18:00", "dim")]
    assert queue_marks(structs.replace(one, held="turn 3 failed"), now) == [("+1 held", "attention")]
    assert queue_marks(session(status=Status.QUEUED, due_at=at), now) == [("until 18:00", "dim")]
    at_work = structs.replace(one, status=Status.RUNNING, queued=2)
    assert queue_state(at_work) == "2 queued, after turn 3, the first until Fri 27 Nov 18:00"
    monkeypatch.undo()
    time.tzset()
