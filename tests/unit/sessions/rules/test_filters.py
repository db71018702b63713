"""The language in which people say which sessions they mean."""

from functools import partial

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.filter_query import FIELDS, KINDS, completions, parse, while_typing
from agentdash.sessions.text.sanitize import cell_width

NOW = 10_000_000


session = partial(
    factories.session, "abcdef0123", title="Fix the Login test", status=Status.DONE, model="gpt-5.5", turn=2,
    created_at=NOW - 7_200_000, updated_at=NOW, started_at=NOW - 600_000, ended_at=NOW - 300_000, cost_usd=1.5,
    steps=12, usage=Usage.of(9_000, output=3_000), last_message="All tests pass.",
)  # fmt: skip


def test_what_matches():
    for text in [
        "", "login", "LOGIN test", '"login test"', "all tests pass", "!web", "state:done", "state:failed,done",
        "state:do", "agent:codex", "agent:claude,codex", "cwd:api", "model:5.5", "id:abcd",
        "cost:>1", "cost:1.5", "cost:<=1.5",
        "cost:>$1", "tok:>10k",
        "tok:12k", "tok:<1m", "turn:2", "age:<10m", "age:5m", "age:>=300", "time:5m", "time:<1h",
        "steps:>10", "is:ended", "is:live,ended",
        "!is:live", "new:12", "said:tests", "!state:running login cost:>1", "!", '""',
        "cost>1", "cost>=1.5", "COST<=$1.5", "!cost>2", "cost=1.5", "age<10m", "tok>10k", "steps>10",
        "title:login", "source:user", 'cwd:"code/api"', "!agent:claude,gemini",
    ]:  # fmt: skip
        assert parse(text).matches(session(), NOW), text


def test_what_does_not():
    for text in [
        "logout", "!login", '"test login"', "state:failed", "!state:done", "agent:claude", "cwd:web", "cost:>2",
        "cost:=1",
        "tok:>12k", "turn:1", "age:<1m", "age:>6m", "time:>5m", "is:live", "is:left", "is:child", "login web",
        "cost>2", "cost>1.5", "cost<1", "!cost>1", "age<1m", "turn>2", "state>done", "costs>1",
        "parent:x", "why:login", "login state:failed",
    ]:  # fmt: skip
        assert not parse(text).matches(session(), NOW), text


def test_an_unknown_amount_is_in_no_range():
    unknown = session(cost_usd=None, usage=Usage())
    assert not any(parse(text).matches(unknown, NOW) for text in ("cost:>=0", "cost:<1", "tok:0"))


def test_what_cannot_be_understood_is_told():
    for text, told in [
        ("cost:much", "cost:>1"),
        ("age:>soon", "age:<1h"), ("is:odd", "Choose one of: attention"), ("cost:", "cost: needs a value"),
        ("turn:>", "turn:2"), ("cost>", "cost:>1"), ("age>soon", "age:<1h"), ("quux:1", "Fields: state"),
    ]:  # fmt: skip
        with pytest.raises(UsageError, match=told):
            parse(text)


def test_an_address_is_a_word():
    assert parse("https://example.org/x").matches(session(title="see https://example.org/x"), NOW)


def test_half_a_quotation_means_what_is_there():
    assert parse('"login te').matches(session(), NOW)


@given(st.text())
def test_any_text_is_a_filter_or_a_clear_error(text):
    try:
        parse(text).matches(session(), NOW)
    except UsageError as error:
        assert str(error)


def test_words_are_completed():
    others = [session(agent="claude", cwd="/srv/my site"), session()]
    assert completions("st", others) == ["state:", "steps:"]
    assert completions("!state:fa", others) == ["!state:failed"]
    assert completions("agent:", others) == ["agent:claude", "agent:codex"]
    assert completions("cwd:", others) == ['cwd:"/srv/my site"', "cwd:/home/ann/code/api"]
    assert completions("is:", others) == [f"is:{kind}" for kind in KINDS]
    assert completions("cost:", others) == []
    assert set(completions("", others)) == {f"{field}:" for field in FIELDS}


def test_half_a_last_word_is_left_out_while_it_is_typed():
    for text, wanted, otherwise in [
        ("", "", ""), ("login", "login", "login"), ("web login", "web login", "web login"),
        ("stat", "stat", ""), ("web stat", "web stat", "web"), ("!stat", "!stat", ""), ("c", "c", ""),
        ("stat ", "stat ", "stat "), ('"stat', '"stat', '"stat'), ("state:", "", ""), ("web !cost:", "web", "web"),
        ("state:fai", "state:fai", ""), ("state:failed", "state:failed", "state:failed"),
        ("state:failed,do", "state:failed,do", ""), ("is:att", "", ""), ("is:live,at", "", ""),
        ("is:attention", "is:attention", "is:attention"), ("cost>", "", ""), ("cost:>=", "", ""), ("cost:>$", "", ""),
        ("cost:>0.", "", ""), ("cost:>0.0", "cost:>0.0", "cost:>0.0"), ("age<1", "age<1", "age<1"),
        ("agent:cl", "agent:cl", "agent:cl"), ("stat:failed", "stat:failed", "stat:failed"),
        ("is:odd", "is:odd", "is:odd"), ("state:broken", "state:broken", "state:broken"),
        ("cost:much", "cost:much", "cost:much"),
    ]:  # fmt: skip
        assert while_typing(text) == (wanted, otherwise), text


@given(st.text())
def test_what_is_left_of_any_text_is_its_beginning(text):
    wanted, otherwise = while_typing(text)
    assert text.startswith(wanted)
    assert text.startswith(otherwise)


def test_no_beginning_of_a_filter_is_an_error_while_it_is_typed():
    for field in FIELDS:
        for value in ["failed", "attention", ">0.5", "x"]:
            try:
                parse(whole := f"{field}:{value}")
            except UsageError:
                continue
            for end in range(len(whole)):
                for half in while_typing(whole[:end]):
                    assert parse(half).matches(session(), NOW) in (True, False), (field, value)


@pytest.mark.parametrize(
    "text", ["age>1h", "time<=5m", "age:>1h", "!age:<5m", "TIME:10m", "login is:live,attention", 'is:"Attention"']
)
def test_a_filter_over_time_says_so(text):
    assert parse(text).timed


@pytest.mark.parametrize("text", ["", "age time attention", "state:running is:stuck cost:>1", "said:attention"])
def test_a_filter_over_facts_does_not(text):
    assert not parse(text).timed


def test_stuck_is_a_state_for_who_looks_for_it():
    stuck = session(status=Status.RUNNING, stuck="failed 4 times", stuck_at=NOW)
    assert parse("state:stuck").matches(stuck, NOW)
    assert parse("state:failed,stuck").matches(stuck, NOW)
    assert parse("state:running").matches(stuck, NOW)
    assert not parse("state:stuck").matches(session(status=Status.RUNNING), NOW)
    assert completions("state:stu", []) == ["state:stuck"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "foo:bar",
            'Unknown field foo. "foo:bar" in quotes searches text. Fields: state is agent cwd cost age',
        ),
        (
            "stat:failed",
            'Unknown field stat: did you mean state:? "stat:failed" in quotes searches text. Fields: state',
        ),
        ("ag:codex", "Unknown field ag: did you mean agent:?"),
        ("state:stukc", "Unknown state stukc: did you mean stuck? States: stuck queued starting"),
        ("state:broken", "Unknown state broken. States: queued starting"),
        ("is:att", "Unknown is:att: did you mean attention? Choose one of: attention needs_you live"),
        (f"{'x' * 90}:{'y' * 90}", "Unknown field xxxx"),
    ],
)
def test_what_is_not_known_is_told_on_one_line_with_the_nearest_first(text, told):
    with pytest.raises(UsageError) as raised:
        parse(text)
    assert str(raised.value).startswith(told)
    assert cell_width(str(raised.value)) <= 100


def test_quotes_help_as_the_message_says():
    assert parse('"foo:bar"').matches(session(title="call foo:bar"), NOW)


def test_an_estimated_cost_is_a_cost():
    estimated = session(cost_usd=0.5, cost_about_usd=2.5)
    assert parse("cost>1").matches(estimated, NOW)
    assert not parse("cost>4").matches(estimated, NOW)
