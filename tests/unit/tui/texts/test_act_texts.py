"""The sentences about what was done: they name the sessions, and a narrow line shortens only titles."""

from factories import session
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.session import Ended, Left, Receipt, Status
from agentdash.sessions.service.prompts.prompter import Sent
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt
from agentdash.sessions.text.sanitize import cell_width
from agentdash.tui.texts import act_texts as acts
from agentdash.tui.texts.act_texts import NAMED, Said

ONE = session(id="aaaa1111", title="Triage the reports (2/3)", turn=3)
OTHER = session(id="bbbb2222", title="Write the answer")


def queued(state="taken", **facts):
    known = {"id": 1, "session": ONE.id, "key": "k", "text": "go on", "plan": b"{}", "created_at": 0, "changed_at": 0}
    return QueuedPrompt(
        **{("recorded_plan" if name == "plan" else name): value for name, value in known.items()}, state=state, **facts
    )


def sent(one=ONE, position=None, **facts):
    return Sent(session=one, prompt=queued(**facts), position=position)


def test_a_prompt_names_its_session_and_its_place():
    held = session(title="Triage", held="a turn failed")
    cases = [
        (acts.sent(sent(turn=4)), 'Sent to "Triage the reports (2/3)" (turn 4)'),
        (acts.retried(sent(turn=4)), 'Retried "Triage the reports (2/3)" (turn 4)'),
        (
            acts.retried(sent(turn=4), afresh=True),
            'Retried "Triage the reports (2/3)" (turn 4): in a new process, with the environment of now',
        ),
        (
            acts.sent(sent(state="sending", steers=True)),
            'Sent to "Triage the reports (2/3)": read at the next step of turn 3',
        ),
        (acts.sent(sent(state="queued", position=2)), 'Queued for "Triage the reports (2/3)": #2, after turn 3'),
        (acts.sent(sent(held, state="queued", position=1)), 'Queued for "Triage": #1, held: a turn failed'),
        (
            acts.changed_prompt(sent(state="queued", position=2)),
            'Saved a prompt of "Triage the reports (2/3)": #2, after turn 3',
        ),
    ]
    for said, words in cases:
        assert said == words


def test_several_sessions_are_named_and_their_number_is_said():
    assert acts.did("Retried", [ONE, OTHER]) == 'Retried 2 sessions: "Triage the reports (2/3)", "Write the answer"'
    assert acts.did("Marked", [ONE, OTHER], "u to undo all 2.", how=" read") == (
        'Marked 2 sessions read: "Triage the reports (2/3)", "Write the answer" · u to undo all 2'
    )
    assert acts.did("Pinned", [OTHER]) == 'Pinned "Write the answer"'
    assert acts.did("Sent to", []) == "Sent to 0 sessions"
    many = acts.did("Archived", [OTHER] * (NAMED + 5))
    assert many.startswith(f"Archived {NAMED + 5} sessions: ")
    assert many.endswith(" and 5 more")


def test_a_start_names_the_session_its_id_and_what_hides_it():
    assert acts.started(ONE) == f'Started "Triage the reports (2/3)" {ONE.short_id}'
    assert acts.started([ONE], "/flaky") == (
        f'Started "Triage the reports (2/3)" {ONE.short_id} · hidden by /flaky · Esc shows it'
    )
    assert acts.started([ONE, OTHER]) == 'Started 2 sessions: "Triage the reports (2/3)", "Write the answer"'
    assert acts.forked(OTHER, ONE) == (f'Forked "Write the answer" as "Triage the reports (2/3)" {ONE.short_id}')


def test_a_stop_that_did_its_job_is_not_a_failure():
    ended = Ended(pid=4, command="codex", signal="SIGINT")
    warm = session(title="Triage", status=Status.FAILED, warm_since=5)
    failed = Receipt(session="s1", status=Status.FAILED, ended=(ended,))
    left = session(title="Triage", status=Status.DONE, left=1)
    stays = Left(pid=9, command="sudo x", reason="belongs to another user")
    nothing = Receipt(session="s1", status=Status.DONE, note="nothing to stop: done")
    cases = [
        (acts.stopped(ONE, failed), 'Stopped "Triage the reports (2/3)": 1 process ended (SIGINT 1), 0 left'),
        (acts.stopped(warm, failed), 'Ended the waiting process of "Triage": 1 process ended (SIGINT 1), 0 left'),
        (acts.stopped(left, failed), 'Stopped what is left of "Triage": 1 process ended (SIGINT 1), 0 left'),
        (acts.stopped(OTHER, nothing), 'Nothing to stop in "Write the answer": done'),
        (
            acts.stopped(OTHER, Receipt(session="s1", status=Status.STOPPED, left=(stays,))),
            'Stopped "Write the answer": 0 processes ended, 1 left',
        ),
    ]
    for said, words in cases:
        assert said == words


def test_an_interrupt_names_the_session_and_what_became_of_its_process():
    one = session(title="Triage", status=Status.RUNNING, steers=True, turn=3)
    nothing = Receipt(session="s1", status=Status.STOPPED)
    own = Ended(pid=4, command="sleep 5", signal=None, observed=True)
    cleared = Receipt(session="s1", status=Status.STOPPED, ended=(own,))
    killed = Receipt(session="s1", status=Status.STOPPED, ended=(Ended(pid=4, command="codex", signal="SIGKILL"),))
    assert acts.interrupted(one, nothing, None) == 'Interrupted "Triage" (turn 3): process kept'
    assert acts.interrupted(one, cleared, None) == (
        'Interrupted "Triage" (turn 3): process kept; 1 process ended (by agent 1), 0 left'
    )
    assert acts.interrupted(one, killed, sent(one, turn=4)) == (
        'Interrupted "Triage" (turn 3): 1 process ended (SIGKILL 1), 0 left · sent (turn 4)'
    )


def test_a_narrow_line_cuts_titles_and_keeps_the_number_of_a_copy_and_the_hint():
    said = acts.did("Archived", ONE, "u to undo.")
    assert said.fitted(100) == said
    assert said.fitted(42) == 'Archived "Triage the r… (2/3)" · u to undo'
    three = acts.did("Retried", [ONE, OTHER, ONE])
    assert three.fitted(70) == 'Retried 3 sessions: "Triage the reports (2/3)" and 2 more'
    both = Said("Made ", ONE, " wait for ", OTHER)
    assert both.fitted(50) == 'Made "Triage t… (2/3)" wait for "Write the answer"'


def test_what_an_agent_wrote_into_a_title_is_cleaned():
    hostile = session(title="a\x1b[2Jb\nc\u202ed")
    assert acts.did("Pinned", hostile) == 'Pinned "ab cd"'


@given(st.lists(st.text(), max_size=4), st.text(), st.integers(0, 120))
def test_a_sentence_fits_into_every_width(titles, hint, width):
    said = acts.did("Pinned", [session(title=title or "x") for title in titles], hint)
    assert cell_width(said.fitted(width)) <= width
