"""Drafts on disk: private, bounded, and safe from the other dashboards."""

import os
from functools import partial
from pathlib import Path

import pytest

from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.prompts import drafts
from agentdash.sessions.storage.prompts.drafts import NEW_SESSION, NO_SESSION, DraftFiles, forget_drafts
from agentdash.sessions.storage.prompts.prompt_history import requested_since
from agentdash.sessions.storage.store import Store
from agentdash.tui.services.drafts import Drafts

ONE, OTHER = "11111111-one", "22222222-other"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / "state")
    layout.create()
    for session in (ONE, OTHER):
        layout.session(session).path.mkdir()
    return layout


def kept(layout: Layout) -> list[str]:
    """The texts of all files."""
    return sorted(path.read_text() for path in layout.drafts.glob("*")) if layout.drafts.exists() else []


def test_a_draft_is_there_for_the_next_front_end(layout: Layout) -> None:
    for key in (ONE, NEW_SESSION, NO_SESSION):
        DraftFiles(layout).write(key, f"half of {key}\nand more")
        assert DraftFiles(layout).read(key) == f"half of {key}\nand more"
    assert DraftFiles(layout).read(OTHER) == ""


def test_nobody_else_may_read_it(layout: Layout) -> None:
    DraftFiles(layout).write(ONE, "secret")
    [file] = layout.drafts.iterdir()
    assert (layout.drafts.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_emptied_one_is_removed(layout: Layout, text: str) -> None:
    files = DraftFiles(layout)
    files.write(ONE, "half")
    files.write(ONE, text)
    assert kept(layout) == []
    DraftFiles(layout).write(ONE, text)


def test_two_front_ends_keep_both_texts(layout: Layout) -> None:
    first, second = DraftFiles(layout), DraftFiles(layout)
    first.write(ONE, "by the first")
    second.write(ONE, "by the second")
    first.write(ONE, "by the first, longer")
    assert kept(layout) == ["by the first, longer", "by the second"]
    second.write(ONE, "")
    assert kept(layout) == ["by the first, longer"]


def test_who_empties_a_draft_leaves_what_another_wrote_into_its_file_since(layout: Layout) -> None:
    first = DraftFiles(layout)
    first.write(ONE, "shared")
    second = DraftFiles(layout)
    assert second.read(ONE) == "shared"
    second.write(ONE, "shared, and changed")
    first.write(ONE, "")
    assert kept(layout) == ["shared, and changed"]


def test_the_newest_of_several_is_shown_and_then_the_next(layout: Layout) -> None:
    first, second = DraftFiles(layout), DraftFiles(layout)
    first.write(ONE, "older")
    second.write(ONE, "newer")
    os.utime(layout.drafts / ONE, ns=(1, 1))
    third = DraftFiles(layout)
    assert third.read(ONE) == "newer"
    third.write(ONE, "")
    assert DraftFiles(layout).read(ONE) == "older"


def test_a_session_that_is_gone_keeps_none(layout: Layout) -> None:
    files = DraftFiles(layout)
    files.write(ONE, "half")
    DraftFiles(layout).write(ONE, "by another")
    files.write(OTHER, "stays")
    forget_drafts(layout, ONE)
    assert kept(layout) == ["stays"]
    layout.session(ONE).path.rmdir()
    files.write(ONE, "typed on")
    assert kept(layout) == ["stays"]


def test_they_are_bounded(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    files = DraftFiles(layout)
    files.write(ONE, "short")
    with pytest.raises(OSError, match="too long to save"):
        files.write(ONE, "x" * (drafts.MOST_BYTES + 1))
    assert kept(layout) == ["short"]
    os.utime(layout.drafts / ONE, ns=(1, 1))
    monkeypatch.setattr(drafts, "MOST_FILES", 1)
    files.write(OTHER, "newer")
    assert kept(layout) == ["newer"]


def test_a_file_that_cannot_be_read_is_no_draft(layout: Layout) -> None:
    DraftFiles(layout).write(ONE, "x")
    (layout.drafts / ONE).write_bytes(b"\xff")
    assert DraftFiles(layout).read(ONE) == ""
    layout.drafts.rename(layout.home / "gone")
    layout.drafts.touch()
    assert DraftFiles(layout).read(ONE) == ""
    with pytest.raises(OSError):
        DraftFiles(layout).write(ONE, "x")


def test_a_draft_that_was_sent_before_its_front_end_was_killed_is_none(layout: Layout) -> None:
    files, store = DraftFiles(layout), Store(layout.database)
    for key in (ONE, NEW_SESSION):
        files.write(key, " fix it \n")
    os.utime(layout.drafts / ONE, (1.0, 1.0))
    os.utime(layout.drafts / NEW_SESSION, (4e9, 4e9))
    was_sent = partial(requested_since, store.database)
    assert DraftFiles(layout, was_sent).read(ONE) == " fix it \n"
    store.create(
        Start("fix it", agent="scripted", title="t", cwd="/", session_id=OTHER), Launch(argv=("x",)), "r", host="h"
    )
    assert DraftFiles(layout, was_sent).read(ONE) == ""
    assert not (layout.drafts / ONE).exists()
    # One that was written after the prompt is another one.
    assert DraftFiles(layout, was_sent).read(NEW_SESSION) == " fix it \n"
    store.close()


def test_the_draft_of_a_prompt_stays_until_the_prompt_is_recorded(layout: Layout) -> None:
    later: list[object] = []
    book = Drafts(DraftFiles(layout), lambda _, call: later.append(call))
    book.put(ONE, "important")
    book.save()
    book.hold(ONE)
    book.put(ONE, "")
    book.put(OTHER, "beside it")
    book.save()
    assert kept(layout) == ["beside it", "important"]
    book.release(ONE)
    book.save()
    assert kept(layout) == ["beside it"]
