"""What people read: rows that fit, steps in their order, foreign text as text."""

import re
from functools import partial
from typing import Any

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agentdash.sessions.model.facts import Fact
from agentdash.sessions.model.session import (
    Change,
    Ended,
    Left,
    PlanItem,
    Prompt,
    Receipt,
    Session,
    Status,
    Step,
    StepKind,
    StepStatus,
    TakenBy,
    TurnMode,
    Usage,
)
from agentdash.sessions.rules.attention import SILENT_MS
from agentdash.sessions.rules.json_schema import dump, record_json, session_json
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.service.lifecycle.explain import Explanation
from agentdash.sessions.text.sanitize import cell_width
from agentdash.sessions.text.units import age, duration, money, tokens
from agentdash.tui.render.sessions.cards import explanation_text, launch_text, receipt_text, session_card
from agentdash.tui.render.sessions.table import session_line, sessions_text
from agentdash.tui.render.steps import step_text, steps_text
from agentdash.tui.render.style import Style
from agentdash.widgets.drawing.glyphs import twins
from agentdash.widgets.table.columns import COLUMNS, Moment

LOOK = Style(width=120, now=100_000)
COLOURS = Style(width=120, now=100_000, colour=True)
NASTY = "\x1b[2J[/red] \u202elist[int]\x07"


session = partial(
    factories.session, "a1b2c3d4e5f6", title="fix the login test", task="fix the login test please",
    cwd="/srv/code/api", turn=2, created_at=1_000, updated_at=96_000,
)  # fmt: skip


def test_what_waits_in_the_queue_has_a_line_of_its_own_where_nothing_changes_any_more() -> None:
    waits = session(status=Status.QUEUED, reason="queued: 8 of 8 slots in use")
    assert "  ↳ queued: 8 of 8 slots in use" in sessions_text([waits], LOOK)


def test_a_row_and_a_line_say_how_many_prompts_wait_and_that_they_are_held() -> None:
    waiting, held = session(queued=2), session(queued=2, held="turn 2 failed", status=Status.FAILED, warm_since=1)
    assert sessions_text([waiting], LOOK)[2].endswith("fix the login test (2 queued)")
    assert sessions_text([held], LOOK)[2].endswith("fix the login test (warm, 2 queued, held)")
    assert sessions_text([held], Style(width=50, now=100_000))[2].endswith(" (+2 held)")
    assert session_line(waiting, LOOK).endswith("fix the login test (2 queued)")
    assert session_line(session(held="by you"), LOOK).endswith("fix the login test (held)")
    assert "   queue  2 queued, held: turn 2 failed: agentdash queue a1b2c3d4" in session_card(held, [], [], LOOK)


def explanation(name: str, value: str, source: str) -> Explanation:
    fact = Fact(name, value, source)
    return Explanation(session="a1b2c3d4e5f6", status=Status.FAILED, reason=name, rule=name, facts=(fact,))


def plain(lines: list[str]) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines))


def test_a_row_shows_state_id_age_turn_tokens_cost_agent_where_and_title() -> None:
    usage = Usage(total_tokens=18_240)
    counts, headings, row = sessions_text([session(usage=usage, cost_usd=0.31, last_event_at=96_000)], LOOK)
    assert counts == "1 session   ● 1 running   18.2k tok   $0.31"
    assert headings.split() == ["state", "id", "age", "new", "turn", "tok", "cost", "agent", "where", "what"]
    words = ["●", "running", "a1b2c3d4", "1m", "2", "18.2k", "$0.31", "codex", "/srv/code/api"]
    assert row.split() == [*words, "fix", "the", "login", "test"]


def test_the_headline_counts_the_states_by_the_words_of_the_rows() -> None:
    stuck = session(stuck="the same command 5 times", stuck_at=90_000)
    states = [stuck, session(), session(status=Status.STARTING), session(status=Status.FINISHING)]
    headline, _, *rows, _ = sessions_text(states, LOOK)
    assert headline == "4 sessions   ! 1 stuck   ◔ 1 starting   ● 1 running   ◕ 1 finishing"
    assert [row.split()[1] for row in rows if "↳" not in row] == ["stuck", "running", "starting", "finishing"]


def test_the_headline_counts_what_asks_what_is_by_hand_and_what_is_put_away_as_the_rows_name_it() -> None:
    done = partial(session, status=Status.DONE, ended_at=90_000)
    taken = TakenBy(
        host="h",
        user="ann",
        since=90_000,
        pid=1,
        start=1,
        boot_id="b",
        pid_ns="p",
        run_id="r",
        turn=1,
        argv=(),
        talks=(),
    )
    away = [done(archived_at=1), session(status=Status.FAILED, archived_at=1), done(deleted_at=1)]
    headline, _, *rows, _ = sessions_text([done(asks="Which?"), done(taken_by=taken), done(), *away], LOOK)
    assert headline == "6 sessions   ? 1 asks   ✎ 1 by hand   ✓ 1 done   2 archived   1 deleted"
    states = [row[2:].partition("  ")[0].removesuffix(" new") for row in rows if "↳" not in row]
    assert states == ["asks", "by hand", "done", "archived", "archived", "deleted"]


def spent(**facts: Any) -> Session:
    return session(started_at=2_000, status=Status.DONE, steps=3, **facts)


def test_the_headline_counts_all_that_match_and_not_only_what_is_printed() -> None:
    older = [spent(usage=Usage(total_tokens=500_000), cost_usd=1.0) for _ in range(67)]
    headline = sessions_text([spent(usage=Usage(total_tokens=1_000), cost_usd=0.5)], LOOK, older=older)[0]
    assert headline == "68 sessions   ✓ 68 done   33.5M tok   $67.50"


def test_a_sum_of_what_is_known_does_not_pretend_to_be_the_whole() -> None:
    known = spent(usage=Usage(total_tokens=1_000), cost_usd=1.91)
    without_cost = spent(usage=Usage(total_tokens=1_000))
    assert sessions_text([known, without_cost], LOOK)[0].endswith("2.0k tok   ≥$1.91")
    assert sessions_text([known, spent()], LOOK)[0].endswith("≥1.0k tok   ≥$1.91")
    estimated = spent(usage=Usage(total_tokens=1_000), cost_about_usd=3.0)
    assert sessions_text([known, estimated], LOOK)[0].endswith("2.0k tok   ~$4.91"), "an estimate is not missing"
    # Nothing is missing of what used no model: a command, a start that failed, a session that waits.
    free = [
        spent(agent="command"),
        session(status=Status.FAILED, started_at=2_000),
        session(status=Status.QUEUED),
    ]
    assert sessions_text([known, *free], LOOK)[0].endswith("1.0k tok   $1.91")


def test_unread_steps_stand_in_the_row_and_in_the_json() -> None:
    headings, row = sessions_text([session(steps=12, seen_at=5, seen_steps=9)], LOOK)[1:]
    assert row[: headings.index("new") + 3].endswith(" +3")
    told = session_json(session(steps=12), now=97_000)
    assert list(told.items())[-2:] == [("attention", None), ("unread", 12)]


@pytest.mark.parametrize(
    ("used", "window"), [(None, None), (None, 8), (3, None), (3, 0), (0, 8), (1, 8), (1, 200), (3, 200), (9, 8)]
)
def test_the_share_of_the_context_in_the_json_is_the_one_in_the_row(used: int | None, window: int | None) -> None:
    one = session(context_tokens=used, context_window=window)
    share = session_json(one)["context_percent"]
    shown = COLUMNS["ctx"].text(one, Moment(now=0))
    assert shown == ("" if share is None else f"{share}%")
    assert (share is None) == (used is None or not window)


def test_what_needs_somebody_is_in_the_json_with_its_kind_and_reason() -> None:
    stuck = session_json(session(stuck="`make` failed 4 times in a row", stuck_at=90_000, denied=1), now=97_000)
    assert stuck["attention"] == {"kind": "stuck", "reason": "`make` failed 4 times in a row", "since": 90_000}
    assert (stuck["denied"], stuck["pinned_at"]) == (1, None)
    silent = session_json(session(), now=1_000 + SILENT_MS)["attention"]
    assert silent == {"kind": "silent", "reason": "no output for 2m", "since": 1_000}


def test_an_unknown_number_is_a_question_mark_never_zero() -> None:
    row = sessions_text([session()], LOOK)[2]
    assert row.split()[5:7] == ["?", "?"]
    assert session_json(session())["usage"]["total_tokens"] is None


def test_each_state_has_its_own_mark_in_unicode_and_ascii() -> None:
    lines = [session_line(session(status=status), LOOK) for status in Status]
    for shown in (lines, list(map(twins, lines))):
        assert len({line.split()[1] for line in shown}) == len(Status)
    assert twins("".join(lines)).isascii()


def test_a_reason_stands_on_a_second_line_only_where_there_is_one() -> None:
    lines = sessions_text([session(), session(status=Status.FAILED, reason="401 invalid\napi key")], LOOK)
    assert len(lines) == 6
    assert lines[-2] == "  ↳ 401 invalid api key"


def test_a_hint_says_how_many_sessions_need_the_user() -> None:
    needing = [session(status=Status.FAILED), session(status=Status.WAITING), session()]
    assert sessions_text(needing, LOOK)[-1] == "2 need you: agentdash ls --filter is:needs_you"
    assert "need" not in sessions_text([session()], LOOK)[-1]
    assert "need" not in sessions_text(needing, LOOK, filtered=True)[-1]


def test_a_new_outcome_is_marked_until_it_was_seen() -> None:
    assert "done new" in session_line(session(status=Status.DONE), LOOK)
    assert "new" not in session_line(session(status=Status.DONE, seen_at=96_001), LOOK)


@given(st.integers(20, 200), st.text(max_size=80), st.sampled_from(Status))
def test_rows_fit_the_terminal(width: int, text: str, status: Status) -> None:
    long = session(title=text, cwd="/" + text, status=status, reason=text, agent="command")
    for line in sessions_text([long], Style(width=width, now=0))[2:]:
        assert cell_width(line) <= max(width, 20 + 17)


def test_a_narrow_terminal_keeps_state_id_and_title() -> None:
    headings = sessions_text([session()], Style(width=40))[1]
    assert headings.split() == ["state", "id", "what"]


def test_no_sessions_teaches_and_no_match_says_so() -> None:
    assert "agentdash spawn" in plain(sessions_text([], LOOK))
    assert "agentdash demo" in plain(sessions_text([], LOOK))
    assert sessions_text([], LOOK, filtered=True) == ["No matching sessions."]
    assert sessions_text([session()], LOOK, older=[session()] * 970)[-1] == "… and 970 more (--all)"


def test_colours_are_only_added_where_asked_for() -> None:
    coloured = sessions_text([session(status=Status.FAILED, reason="x")], COLOURS)
    assert "\x1b[31m" in "\n".join(coloured)
    assert plain(coloured).split("\n") == sessions_text([session(status=Status.FAILED, reason="x")], LOOK)


def test_foreign_text_is_shown_as_text() -> None:
    foreign = session(title=NASTY, cwd=NASTY, reason=NASTY, task=NASTY, last_message=NASTY, agent=NASTY, model=NASTY)
    prompt = Prompt(id=1, session="a", turn=1, text=NASTY, state="queued", created_at=0)
    turn = factories.turn(status=Status.FAILED, reason=NASTY)
    receipt = Receipt(
        session="a1b2c3d4",
        status=Status.STOPPED,
        ended=(Ended(pid=1, command=NASTY, signal="SIGINT"),),
        left=(Left(pid=2, command=NASTY, reason=NASTY),),
        note=NASTY,
    )
    lines = [
        *sessions_text([foreign], LOOK),
        *session_card(foreign, [turn], [prompt], LOOK),
        *receipt_text(receipt, NASTY, LOOK),
        *explanation_text(explanation(NASTY, NASTY, NASTY), LOOK),
        *launch_text(Launch(argv=("x", NASTY), env={"A": NASTY})),
        *(line for kind in StepKind for line in step_text(full_step(kind, NASTY), LOOK)),
    ]
    text = "\n".join(lines)
    assert "[/red] list[int]" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)


def full_step(kind: StepKind, text: str) -> Step:
    return Step(
        kind=kind,
        text=text,
        command=text,
        output=text,
        server=text,
        tool=text,
        arguments={text: [text]},
        changes=(Change(path=text, kind=text, diff=text),),
        items=(PlanItem(text=text, status=text),),
        event=text,
        model=text,
        agent_session=text,
    )


def test_a_command_shows_exit_code_and_duration() -> None:
    step = Step(
        kind=StepKind.COMMAND,
        command="pytest -q",
        exit_code=1,
        status=StepStatus.FAILED,
        at=1_000,
        ended_at=4_200,
        output="1 failed\n",
    )
    assert step_text(step, LOOK) == ["$ pytest -q  ✗ exit 1  3.2s", "  1 failed"]


def test_texts_are_cut_unless_the_full_view_is_wanted() -> None:
    long = "x" * 500
    lengths = {
        StepKind.REASONING: 100,
        StepKind.MESSAGE: 200,
        StepKind.PROMPT: 200,
    }
    for kind, length in lengths.items():
        [line] = step_text(Step(kind=kind, text=long), LOOK)
        assert line.endswith("…")
        assert len(line) == length + 2
        [whole] = step_text(Step(kind=kind, text=long), Style(full=True))
        assert whole.endswith(long)
        [short] = step_text(Step(kind=kind, text="short"), LOOK)
        assert "…" not in short
    call, output = step_text(Step(kind=StepKind.TOOL_CALL, tool="t", arguments={"a": long}, output=long), LOOK)
    assert len(call) == len("⚙ t()") + 100
    assert len(output) == 2 + 200


def test_every_turn_has_a_heading_and_steps_keep_their_order() -> None:
    steps = [Step(turn=1, kind=StepKind.PROMPT, text="a"), Step(turn=2, kind=StepKind.PROMPT, text="b")]
    lines = list(steps_text(steps, LOOK))
    assert [line.rstrip("─") for line in lines] == ["── turn 1 ", "❯ a", "── turn 2 ", "❯ b"]  # noqa: RUF001


def test_steps_of_each_kind() -> None:
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n+more"
    change = Step(kind=StepKind.FILE_CHANGE, changes=(Change(path="a.py", kind="update", diff=diff),))
    plan = Step(kind=StepKind.PLAN, items=(PlanItem(text="one", status="completed"), PlanItem(text="two", status="x")))
    error = Step(kind=StepKind.ERROR, text="Reconnecting", fatal=False)
    usage = Step(kind=StepKind.USAGE, usage=Usage(input_tokens=1_000, output_tokens=5), cost_usd=0.5)
    unknown = Step(kind=StepKind.UNKNOWN, text='{"type":"new.thing"}', event="new.thing")
    tool = Step(kind=StepKind.TOOL_CALL, server="docs", tool="search", arguments={"q": 1}, status=StepStatus.OK)
    start = Step(kind=StepKind.START, model="gpt", agent_session="t-1")
    assert step_text(change, LOOK) == ["± a.py  update  +2 -1"]
    assert step_text(change, Style(full=True))[-1] == "  +more"
    assert step_text(plan, LOOK) == ["☐ plan 1/2", "  ☑ one", "  ☐ two"]
    assert step_text(error, LOOK) == ["! Reconnecting  (not fatal)"]
    assert step_text(usage, LOOK) == ["Σ 1.0k in · 5 out · $0.50"]
    assert step_text(unknown, LOOK) == ['?? new.thing: {"type":"new.thing"}']
    assert step_text(tool, LOOK) == ['⚙ docs.search({"q": 1})  ✓']
    assert step_text(start, LOOK) == ["▹ gpt t-1"]
    assert list(steps_text([Step(kind=StepKind.MESSAGE, text="sub", parent="c")], LOOK))[1] == "    ✦ sub"


def test_a_receipt_names_signals_processes_and_what_is_left() -> None:
    receipt = Receipt(
        session="a1b2c3d4e5f6",
        status=Status.STOPPED,
        ended=(
            Ended(pid=41, command="codex", signal="SIGINT"),
            Ended(pid=42, command="bash", signal="SIGINT"),
            Ended(pid=43, command="node", signal="SIGKILL", observed=True),
        ),
        left=(Left(pid=9, command="sudo", reason="not permitted"),),
        duration_ms=1_200,
    )
    lines = receipt_text(receipt, "split it", LOOK)
    summary = "3 processes ended (SIGINT 2, SIGKILL 1), 1 left, 1.2s"
    assert lines == [
        f'a1b2c3d4  stopped  "split it": {summary}',
        "  SIGINT    codex 41, bash 42",
        "  SIGKILL   node 43",
        "  left      sudo 9: not permitted",
    ]
    assert "  reason    wrong folder" in receipt_text(
        structs.replace(receipt, reason="wrong\nfolder"), "split it", LOOK
    )
    many = tuple(Ended(pid=40 + n, command=f"python -m tool --conversation {n % 3}", signal="SIGINT") for n in range(6))
    family = receipt_text(structs.replace(receipt, ended=many, left=()), "split it", Style(width=80))
    assert family[1:] == [
        "  SIGINT    python -m tool --conversation 0 40 43",
        "            python -m tool --conversation 1 41 44",
        "            python -m tool --conversation 2 42 45",
    ]
    by_agent = Receipt(
        session="a1b2c3d4e5f6", status=Status.STOPPED,
        ended=(Ended(pid=40, command="sleep 5", signal=None, observed=True), Ended(pid=41, command="x", signal=None)),
    )  # fmt: skip
    assert by_agent.summary() == "2 processes ended (by agent 1, by itself 1), 0 left"
    told = record_json(receipt)
    assert list(told) == ["session", "status", "ended", "left", "duration_ms", "note", "workers", "reason"]
    assert list(told["ended"][0]) == ["pid", "command", "signal", "exit_code", "observed"]


def test_a_card_and_an_explanation() -> None:
    card = plain(session_card(session(exit_code=0, last_message="All\ngreen"), [], [], COLOURS))
    assert "exit  0" in card
    assert card.endswith("All\ngreen")
    told = explanation_text(explanation("lock", "held", "runner.lock"), LOOK)
    assert told == ["a1b2c3d4  ✗ failed (lock)", "rule: lock", "  lock  held  runner.lock"]


def test_a_card_shows_below_a_turn_what_changed_of_its_settings() -> None:
    held = TurnMode(setting="sandbox", permissions="workspace-write", default="workspace-write")
    free = TurnMode(setting="sandbox", permissions="no-sandbox", default="workspace-write", dangerous=True, search=True)
    turns = [factories.turn(n, mode=mode) for n, mode in enumerate((held, held, free), 1)]
    card = session_card(session(), turns, [], LOOK)
    assert [line.split()[1] for line in card if line.startswith("  turn ")] == ["1", "2", "3"]
    at = next(n for n, line in enumerate(card) if line.startswith("  turn 3"))
    assert card[at + 1 :] == ["          sandbox: no-sandbox (was workspace-write)  search: on (was default)"]


def test_a_dry_run_can_be_typed() -> None:
    lines = launch_text(Launch(argv=("codex", "a b", "-"), stdin="hé", env={"K": "v"}))
    assert lines == ["codex 'a b' -", "stdin: 3 bytes", "env:   K=v"]


def test_words() -> None:
    for function, value, expected in [
        (age, -5_000, "0s"), (age, 4_000, "4s"), (age, 720_000, "12m"), (age, 10_800_000, "3h"),
        (age, 172_800_000, "2d"),
        (duration, 400, "0.4s"),
        (duration, 59_960, "1m00s"), (duration, 192_000, "3m12s"), (duration, 7_500_000, "2h05m"),
        (tokens, None, "?"), (tokens, 0, "0"), (tokens, 812, "812"), (tokens, 18_240, "18.2k"),
        (tokens, 99_960, "100k"), (tokens, 412_000, "412k"), (tokens, 999_600, "1.0M"), (tokens, 3_100_000, "3.1M"),
        (money, None, "?"), (money, 0.0, "$0.00"), (money, 0.0042, "$0.0042"), (money, 0.31, "$0.31"),
        (money, 0.042, "$0.04"), (money, 4.123, "$4.12"),
    ]:  # fmt: skip
        assert function(value) == expected, (function, value)


def test_the_schema_of_a_session_begins_with_the_documented_keys() -> None:
    told = session_json(session())
    documented = (
        "id agent title task status reason cwd model turn parent usage cost_usd exit_code signal created_at updated_at"
    )
    assert list(told)[:16] == documented.split()
    assert list(told["usage"]) == [
        "input_tokens",
        "cached_input_tokens",
        "output_tokens",
        "reasoning_output_tokens",
        "total_tokens",
        "cache_write_tokens",
    ]


def test_json_carries_what_utf8_and_64_bits_cannot() -> None:
    assert dump({"a": "ü"}) == '{"a":"ü"}\n'.encode()
    assert dump({"a": "\udcff", "b": 2**80}) == b'{"a": "\\udcff", "b": 1208925819614629174706176}\n'
