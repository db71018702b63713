"""Of several front ends in one terminal one tells."""

import os

import pytest

from agentdash.sessions.notices.claims import KEPT_SECONDS, Claims
from agentdash.sessions.notices.transitions import Notice

PANE = {"TMUX": "/tmp/tmux-0/default,4121,0", "TMUX_PANE": "%3"}


def notice(**own):
    return Notice(**({"event": "waiting", "session": "s1", "title": "t", "body": "b", "episode": "1 5"} | own))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "told"


def test_one_of_two_panes_tells(folder):
    first, second = Claims(folder, PANE), Claims(folder, PANE | {"TMUX_PANE": "%4"})
    assert [first.take(notice()), second.take(notice())] == [True, False]


@pytest.mark.parametrize("own", [{"episode": "1 9"}, {"event": "failed"}, {"session": "s2"}])
def test_what_happens_next_is_told_again(folder, own):
    first, second = Claims(folder, PANE), Claims(folder, PANE)
    assert [first.take(notice()), second.take(notice(**own))] == [True, True]


def test_another_session_of_tmux_may_be_another_window_and_is_told_too(folder):
    first, second = Claims(folder, PANE), Claims(folder, PANE | {"TMUX": "/tmp/tmux-0/default,4121,1"})
    assert [first.take(notice()), second.take(notice())] == [True, True]


def test_terminals_of_their_own_share_nothing(folder):
    assert [Claims(folder, {}).take(notice()) for _ in range(2)] == [True, True]
    assert not folder.exists()


def test_where_nothing_can_be_written_all_tell(folder):
    folder.write_text("no folder")
    assert [Claims(folder, PANE).take(notice()) for _ in range(2)] == [True, True]


def test_old_claims_go(folder):
    claims = Claims(folder, PANE)
    claims.take(notice())
    [old] = folder.iterdir()
    os.utime(old, (old.stat().st_atime, old.stat().st_mtime - KEPT_SECONDS - 10))
    claims.take(notice(episode="2 8"))
    assert old not in list(folder.iterdir())
    assert len(list(folder.iterdir())) == 1
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]
