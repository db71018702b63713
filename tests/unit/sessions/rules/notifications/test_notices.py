"""Notifications: which sequence, for which terminal, and what is worth one."""

import re
from functools import partial

import factories
import pytest
from hostile_text import nasty
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agentdash.sessions.model.errors import ConfigError
from agentdash.sessions.model.session import Status, Stopping
from agentdash.sessions.rules.notifications import terminal_support
from agentdash.sessions.rules.notifications.events import Notice, Watcher, event_between, merged
from agentdash.sessions.rules.notifications.settings import NotifySettings
from agentdash.sessions.rules.notifications.terminal_support import notification, way
from agentdash.sessions.service.tmux import outer_terminals
from agentdash.sessions.settings.config import load_config

T0 = 1_790_000_000_000
TEXT = r"[^\x00-\x1f\x7f-\x9f]*"
WHOLE = {
    "osc9": re.compile(rf"\x1b\]9;(?!\d+(?:;|\x1b)){TEXT}\x1b\\"),
    "osc99": re.compile(
        rf"\x1b\]99;i=(\w+);{TEXT}\x1b\\|\x1b\]99;i=(\w+):d=0;{TEXT}\x1b\\\x1b\]99;i=\2:p=body;{TEXT}\x1b\\"
    ),
    "osc777": re.compile(r"\x1b\]777;notify;[^;\x00-\x1f\x7f-\x9f]*;[^;\x00-\x1f\x7f-\x9f]*\x1b\\"),
    "bell": re.compile(r"\x07"),
}
KINDS = sorted(WHOLE)

PIECES = ["\x1b", "\\", "]", "\a", ";", "9", "4", "\x9c", "\x9d", "\x90", "P", "tmux;", "\n", "x"]
texts = st.one_of(st.text(), nasty, st.lists(st.sampled_from(PIECES)).map("".join))


@pytest.mark.parametrize("kind", KINDS)
@given(title=texts, body=texts)
def test_whatever_the_text_it_is_one_well_formed_notification(kind, title, body):
    assert WHOLE[kind].fullmatch(notification(kind, title, body, tmux=False))


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"bell"}))
@given(title=texts, body=texts)
def test_what_tmux_takes_the_wrapping_off_is_the_same(kind, title, body):
    wrapped = notification(kind, title, body, tmux=True)
    found = re.fullmatch(r"\x1bPtmux;((?:\x1b\x1b|[^\x1b])*)\x1b\\", wrapped)
    assert found[1].replace("\x1b\x1b", "\x1b") == notification(kind, title, body, tmux=False)


@given(texts)
def test_whatever_the_text_it_is_one_title(text):
    assert re.fullmatch(rf"\x1b\]2;{TEXT}\x1b\\", terminal_support.title(text))


def test_a_long_text_is_cut():
    assert len(notification("osc777", "t" * 10_000, "b" * 10_000, tmux=False)) < 300


def test_a_text_that_looks_like_a_progress_bar_is_not_one():
    assert notification("osc9", "4;3;50", "", tmux=False) == "\x1b]9;4 ;3;50\x1b\\"


def test_a_bell_needs_no_wrapping():
    assert notification("bell", "a", "b", tmux=True) == "\a"


def test_the_environment_tells_what_the_terminal_understands():
    for env, kind in [
        ({"TERM_PROGRAM": "iTerm.app"}, "osc9"),
        ({"LC_TERMINAL": "iTerm2", "TERM": "xterm-256color"}, "osc9"),
        ({"KITTY_WINDOW_ID": "1"}, "osc99"),
        ({"TERM": "xterm-kitty"}, "osc99"),
        ({"TERM_PROGRAM": "WezTerm"}, "osc777"),
        ({"TERM_PROGRAM": "ghostty"}, "osc777"),
        ({"TERM": "xterm-ghostty"}, "osc777"),
        ({"TERM": "foot"}, "osc777"),
        ({"TERM": "foot-extra"}, "osc777"),
        ({"VTE_VERSION": "7603"}, "osc777"),
        ({"TERM_PROGRAM": "vscode", "VTE_VERSION": "7603"}, "bell"),
        ({"TERM_PROGRAM": "Apple_Terminal"}, "bell"),
        ({"TERM": "alacritty", "KITTY_WINDOW_ID": "1"}, "bell"),
        ({"TERM": "xterm-256color"}, "bell"),
        ({"STY": "1.pts", "KITTY_WINDOW_ID": "1"}, "bell"),
        ({}, "bell"),
    ]:
        found = way("auto", env)
        assert (found.kind, found.tmux) == (kind, False), env


def test_inside_tmux_a_bell_goes_with_what_may_not_get_through():
    found = way("auto", {"TMUX": "/tmp/tmux-1000/default,1,0", "TERM_PROGRAM": "tmux", "KITTY_WINDOW_ID": "1"})
    text = found.sequence("a", "b")
    assert text.startswith("\x1bPtmux;\x1b\x1b]99;")
    assert text.endswith("\x1b\\\a")
    assert way("auto", {"TMUX": "x"}).sequence("a", "b") == "\a"


IN_TMUX = {"TMUX": "/tmp/tmux-1000/default,1,0", "TMUX_PANE": "%0", "TERM": "tmux-256color"}


@pytest.mark.parametrize("kind", ["osc9", "osc99", "osc777"])
def test_inside_tmux_a_bell_also_goes_with_what_was_chosen(kind):
    assert way(kind, IN_TMUX).sequence("a", "b").endswith("\x1b\\\a")
    assert not way(kind, {}).sequence("a", "b").endswith("\a")
    assert way("bell", IN_TMUX).sequence("a", "b") == "\a"


@pytest.mark.parametrize(
    ("clients", "kind"),
    [
        ("xterm-kitty\\tkitty(0.32.2)\n", "osc99"), ("xterm-256color\\tkitty(0.32.2)\n", "osc99"),
        ("xterm-ghostty\\t\n", "osc777"), ("xterm-256color\\tghostty 1.1.0\n", "osc777"),
        ("xterm-256color\\tWezTerm 20240203\n", "osc777"), ("xterm-256color\\tiTerm2 3.5.0\n", "osc9"),
        ("xterm-256color\\tXTerm(379)\n", "bell"), ("xterm-kitty\\t\nxterm-256color\\tiTerm2 3.5.0\n", "bell"),
        ("", "bell"),
    ],
)  # fmt: skip
def test_inside_tmux_the_terminals_around_it_are_found(tmp_path, clients, kind):
    program = tmp_path / "tmux"
    program.write_text(
        f"#!/bin/sh\n[ \"$1 $2 $3\" = 'list-clients -t %0' ] && printf '{clients}'\n".replace("\n'", "\\n'")
    )
    program.chmod(0o755)
    env = IN_TMUX | {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    found = way("auto", env, outer_terminals(env))
    assert (found.kind, found.bell) == (kind, kind != "bell")


def test_the_settings_have_the_last_word():
    assert way("off", {"KITTY_WINDOW_ID": "1"}) is None
    assert way("osc9", {"KITTY_WINDOW_ID": "1"}).sequence("a", "b") == "\x1b]9;a - b\x1b\\"


def test_the_settings_are_checked(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('[notify]\nterminal = "osc9"\non = ["failed"]\nhook = ["~/bin/tell", "~/x"]\n')
    notify = load_config(path).notify
    assert (notify.terminal, notify.on, notify.title) == ("osc9", ("failed",), True)
    assert notify.command.argv[0].endswith("/bin/tell")
    assert not notify.command.argv[0].startswith("~")
    assert notify.command.argv[1] == "~/x"
    for wrong in ('on = ["sometimes"]', 'hook = "a string"', 'hook = [""]', "hook_timeout_seconds = 0"):
        path.write_text(f"[notify]\n{wrong}\n")
        with pytest.raises(ConfigError, match=r"config\.toml:2: notify\."):
            load_config(path)


def test_there_is_no_hook_unless_somebody_names_one():
    assert NotifySettings().command.argv == ()


session = partial(factories.session, updated_at=T0 + 1000)


def told(watcher, *sessions, **named):
    return [(notice.session, notice.event) for notice in watcher.update(sessions, **named)]


@pytest.mark.parametrize(
    ("status", "event"),
    [
        (Status.WAITING, "waiting"),
        (Status.FAILED, "failed"),
        (Status.LOST, "failed"),
        (Status.DONE, "done"),
        (Status.STOPPED, None),
        (Status.QUEUED, None),
        (Status.FINISHING, None),
    ],
)
def test_a_change_of_state_is_told_once(status, event):
    watcher = Watcher([session()], T0)
    expected = [("s1", event)] if event else []
    assert told(watcher, session(status=status)) == expected
    assert told(watcher, session(status=status)) == []
    assert told(watcher, session(status=status, updated_at=T0 + 9000, left=2)) == []


def test_what_was_so_before_is_not_told():
    watcher = Watcher([session(status=Status.FAILED)], T0)
    assert told(watcher, session(status=Status.FAILED)) == []


def test_each_turn_is_told():
    watcher = Watcher([session(status=Status.DONE)], T0)
    assert told(watcher, session(status=Status.DONE, turn=2)) == [("s1", "done")]


def test_another_question_is_told_and_the_same_is_not():
    watcher = Watcher([session()], T0)
    assert told(watcher, session(status=Status.WAITING, reason="may I?")) == [("s1", "waiting")]
    assert told(watcher, session(status=Status.WAITING, reason="may I?", steps=3)) == []
    assert told(watcher, session(status=Status.WAITING, reason="and this?")) == [("s1", "waiting")]


def test_a_session_that_is_new_and_has_failed_already_is_told():
    watcher = Watcher([], T0)
    assert told(watcher, session(status=Status.FAILED, created_at=T0 + 1)) == [("s1", "failed")]


def test_what_comes_back_from_the_trash_is_no_news():
    watcher = Watcher([], T0)
    assert told(watcher, session(status=Status.FAILED, created_at=T0 - 1)) == []


def test_what_is_being_read_is_not_told_even_later():
    watcher = Watcher([session(), session("s2")], T0)
    ended = (session(status=Status.DONE), session("s2", status=Status.DONE))
    assert told(watcher, *ended, reading={"s1"}) == [("s2", "done")]
    assert told(watcher, *ended) == []


def test_what_somebody_has_seen_elsewhere_is_not_told():
    assert event_between(session(), session(status=Status.DONE, seen_at=T0 + 2000)) is None


def notice(sid, event, body="done"):
    return Notice(event=event, session=sid, title=f"task of {sid}", body=body, episode="1 0")


def test_one_notice_is_told_as_it_is():
    watcher = Watcher([session()], T0)
    [found] = watcher.update([session(status=Status.FAILED, reason="401\ninvalid key")])
    assert merged([found]) == ("task of s1", "failed: 401 invalid key")


def test_several_become_one():
    three = [notice("s1", "done"), notice("s2", "failed"), notice("s3", "done")]
    assert merged(three) == ("3 sessions ended, 1 failed", "task of s1, task of s2, task of s3")
    assert merged([notice("s1", "waiting"), *three[1:]])[0] == "1 session waiting, 2 ended, 1 failed"


def test_of_one_session_only_the_newest_counts():
    assert merged([notice("s1", "waiting", "waiting: may I?"), notice("s1", "done")]) == ("task of s1", "done")


def test_a_task_without_words_still_has_a_name():
    watcher = Watcher([session()], T0)
    [found] = watcher.update([structs.replace(session(status=Status.DONE), title="\x1b[0m", task="x")])
    assert merged([found]) == ("codex", "done")


def test_a_loop_is_told_when_it_begins_and_stands_while_it_lasts():
    watcher = Watcher([session()], 0)
    stuck = session(stuck="`pytest` failed 4 times in a row", stuck_at=7)
    assert [(n.event, n.body) for n in watcher.update([stuck])] == [
        ("stuck", "stuck: `pytest` failed 4 times in a row")
    ]
    notice = Watcher([session()], 0).update([stuck])[0]
    assert watcher.stands(notice)
    assert watcher.update([session(stuck="`pytest` failed 5 times in a row", stuck_at=7)]) == []
    assert watcher.update([session()]) == []
    assert not watcher.stands(notice)
    assert watcher.update([session(stuck="the same call x() 4 times", stuck_at=9)])


def test_a_loop_that_the_user_is_ending_is_no_news():
    stopped = session(stuck="`pytest` failed 4 times in a row", stuck_at=7, stopping=Stopping(rung="SIGINT"))
    assert event_between(session(), stopped) is None
