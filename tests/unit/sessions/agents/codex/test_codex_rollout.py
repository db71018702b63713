"""codex's transcripts: real ones (codex-cli 0.169.0, instructions removed), torn ones, huge ones, and finding them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from factories import turn
from places import CAPTURES
from transcript_files import merged

from agentdash.sessions.agents.capabilities import RecordedEdit
from agentdash.sessions.agents.codex.rollout import own_files
from agentdash.sessions.agents.codex.rollout.own_files import Rollout, find_rollout
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import StepStatus
from agentdash.sessions.service.changes.from_steps import collect
from agentdash.sessions.service.changes.model import FileChanges
from agentdash.sessions.service.changes.session_changes import Recorded, with_diffs

TRANSCRIPTS = CAPTURES / "transcripts"
PROJECT = "/home/dev/project"
THREAD = "01a1fdce-cc9c-7aa2-87db-8bf6bc97090b"
BORN = 1_795_259_550_876
"""2026-11-21, which is in the id."""
OLD_THREAD = "01a1fdce-cc9c-4aa2-87db-8bf6bc97090b"
DAY = "2026/11/21"
DAY_MS = 86_400_000


def files_of(stream: Path, rollout: Path) -> dict[str, FileChanges]:
    """What the real stream and its real transcript say together."""
    agent = agent_named("codex")
    parser = agent.parser()
    told = [step for line in stream.read_bytes().splitlines() for step in parser.feed(line)]
    steps = merged(told + parser.close())
    found = collect(with_diffs(Recorded(lambda *_: Rollout(rollout), [turn()]), steps), PROJECT)
    return {file.path: file for file in found.files}


def read_edits(path: Path) -> Iterator[RecordedEdit]:
    return Rollout(path).read_on()


def rollout(home: Path, thread: str = THREAD, folder: str = f"sessions/{DAY}", text: str = "") -> Path:
    path = home / folder / f"rollout-2026-11-21T11-12-30-{thread}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def line(changes: dict[str, Any], at: int = 5, **more: Any) -> str:
    item = {"type": "FileChange", "id": "c", "changes": changes, "status": "completed"} | more
    payload = {"type": "item_completed", "item": item, "completed_at_ms": at}
    return json.dumps({"timestamp": "x", "type": "event_msg", "payload": payload}) + "\n"


def test_the_diffs_of_a_real_run() -> None:
    captures = TRANSCRIPTS.parent
    files = files_of(captures / "codex-work.jsonl", TRANSCRIPTS / "codex-work.rollout.jsonl")
    notes = files["notes.txt"]
    assert (list(files), notes.kind, notes.touched, notes.added, notes.removed) == (["notes.txt"], "add", 2, 3, 1)
    assert [edit.diff for edit in notes.edits] == [
        "@@ -0,0 +1,2 @@\n+first line\n+second line",
        "@@ -1,2 +1,2 @@\n first line\n-second line\n+second line, edited\n",
    ]


def test_a_real_run_that_adds_deletes_moves_and_fails() -> None:
    files = files_of(TRANSCRIPTS / "codex-moves.jsonl", TRANSCRIPTS / "codex-moves.rollout.jsonl")
    told = {path: (file.kind, file.touched, file.added, file.removed) for path, file in files.items()}
    assert told == {
        "a b.txt": ("delete", 3, 3, 1),
        "gone.txt": ("delete", 2, 1, 1),
        "old.txt": ("delete", 2, 3, 0),
        "sub/deep.txt": ("add", 2, 2, 1),
        "new.txt": ("add", 1, 1, 1),
        "/proc/x.txt": (None, 0, None, None),
        "c d.txt": ("add", 1, 1, 1),
    }
    assert files["old.txt"].edits[-1].moved_to == "new.txt"
    assert files["new.txt"].edits[0].moved_from == "old.txt"
    assert [(e.status, e.diff) for e in files["/proc/x.txt"].edits] == [(StepStatus.FAILED, "@@ -0,0 +1,1 @@\n+x")]


@pytest.mark.parametrize(
    "folder", [f"sessions/{DAY}", "sessions/2026/11/20", "sessions/2026/11/22", "archived_sessions"]
)
def test_a_transcript_is_found_near_its_day_or_archived_without_a_walk(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_files, "MOST_FOLDERS", 0)
    path = rollout(tmp_path, folder=folder)
    rollout(tmp_path, thread=THREAD.replace("0b", "0c"), folder=folder)
    assert find_rollout(tmp_path, THREAD, at=0) == path


def test_an_id_that_holds_no_time_is_sought_at_the_day_of_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_files, "MOST_FOLDERS", 0)
    path = rollout(tmp_path, thread=OLD_THREAD)
    assert find_rollout(tmp_path, OLD_THREAD, at=BORN + DAY_MS) == path
    assert find_rollout(tmp_path, OLD_THREAD, at=BORN + 5 * DAY_MS) is None
    assert find_rollout(tmp_path, OLD_THREAD, at=10**30) is None


def test_a_transcript_of_another_day_is_found_by_a_walk_that_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = rollout(tmp_path, folder="sessions/2024/02/29")
    rollout(tmp_path, thread=OLD_THREAD, folder="sessions/2025/01/01")
    (tmp_path / "sessions" / "notes").mkdir()
    (tmp_path / "sessions" / "2023").touch()
    assert find_rollout(tmp_path, THREAD, at=0) == path
    monkeypatch.setattr(own_files, "MOST_FOLDERS", 1)
    assert find_rollout(tmp_path, THREAD, at=0) is None


@pytest.mark.parametrize("thread", ["", "../../etc/passwd", f"{THREAD}/..", f"*{THREAD[1:]}", "x" * 36, f"{THREAD}\n"])
def test_what_is_no_thread_id_names_no_file(thread: str, tmp_path: Path) -> None:
    rollout(tmp_path, thread=THREAD)
    assert find_rollout(tmp_path, thread, at=BORN) is None


def test_what_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
    path = rollout(tmp_path)
    path.unlink()
    os.mkfifo(path)
    assert find_rollout(tmp_path, THREAD, at=BORN) is None
    path.unlink()
    path.symlink_to("/dev/zero")
    assert find_rollout(tmp_path, THREAD, at=BORN) is None


def test_no_home_no_transcript(tmp_path: Path) -> None:
    assert find_rollout(tmp_path / "gone", THREAD, at=BORN) is None
    assert list(read_edits(tmp_path / "gone.jsonl")) == []
    assert agent_named("codex").own_files.edits(THREAD, {"CODEX_HOME": str(tmp_path)}, BORN) is None


def test_codex_looks_into_the_home_that_was_recorded_with_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rollout(tmp_path / "recorded", text=line({"/x": {"type": "add", "content": "1\n"}}))
    rollout(tmp_path / ".codex", text=line({"/y": {"type": "add", "content": "1\n"}}))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "elsewhere"))
    codex = agent_named("codex")
    recorded = codex.own_files.edits(THREAD, {"CODEX_HOME": str(tmp_path / "recorded")}, BORN)
    usual = codex.own_files.edits(THREAD, {"CODEX_HOME": None}, BORN)
    assert recorded is not None and usual is not None
    assert [[edit.changes[0].path for edit in found.read_on()] for found in (recorded, usual)] == [["/x"], ["/y"]]


def test_agents_whose_streams_have_diffs_keep_no_transcript_for_us() -> None:
    assert agent_named("claude").own_files.edits is None


def test_a_torn_last_line_is_held_back(tmp_path: Path) -> None:
    whole = line({"/x": {"type": "add", "content": "1\n"}})
    path = rollout(tmp_path, text=whole + whole[:-20])
    assert len(list(read_edits(path))) == 1
    path.write_text(whole + whole.rstrip("\n"))
    assert len(list(read_edits(path))) == 1


def test_a_transcript_that_grows_is_read_on_from_where_it_was(tmp_path: Path) -> None:
    whole = line({"/x": {"type": "add", "content": "1\n"}})
    path = rollout(tmp_path, text=whole + whole[:-20])
    found = Rollout(path)
    assert [len(list(found.read_on())) for _ in range(2)] == [1, 0]
    with path.open("a") as file:
        file.write(whole[-20:] + whole)
    assert [len(list(found.read_on())) for _ in range(2)] == [2, 0]
    path.unlink()
    assert list(found.read_on()) == []


@pytest.mark.parametrize(
    "odd",
    [
        '{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange"}}}\n',
        '{"type":"event_msg","payload":{"type":"item_started","item":{"type":"FileChange","changes":{}}}}\n',
        line({"/x": {"type": "add", "content": 5}}),
        line({"/x": None}),
        line({}, at=-(10**40)).replace('"completed_at_ms"', '"at"'),
        '"FileChange"' + "[" * 100_000 + "\n",
        '"FileChange"\x00\x1b\n',
        "\n",
    ],
)
def test_a_line_that_cannot_be_understood_is_passed_over(odd: str, tmp_path: Path) -> None:
    good = line(
        {"/x": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": None, "new": 1}}, stdout="y"
    )
    (edit,) = read_edits(rollout(tmp_path, text=odd + good))
    assert (edit.at, edit.changes[0].lines) == (5, (1, 1))


def test_only_lines_about_files_are_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    monkeypatch.setattr(own_files, "_edit", decoded.append)
    said = json.dumps({"type": "response_item", "payload": {"output": 'about "FileChange"' + "x" * 5_000_000}}) + "\n"
    about = line({"/x": {"type": "add", "content": "1\n"}})
    list(read_edits(rollout(tmp_path, text=said + about + said)))
    assert decoded == [about.rstrip("\n").encode()]


def test_a_line_beyond_the_cap_costs_one_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_files, "LINE_CAP", 100_000)
    small = line({"/x": {"type": "add", "content": "1\n"}})
    huge = line({"/y": {"type": "add", "content": "1\n" * 200_000}})
    edits = list(read_edits(rollout(tmp_path, text=small + huge + small)))
    assert [edit.changes[0].path for edit in edits] == ["/x", "/x"]


def test_of_a_huge_edit_the_beginning_is_kept(tmp_path: Path) -> None:
    text = line({"/y": {"type": "delete", "content": "line\n" * 1_000_000}})
    (edit,) = read_edits(rollout(tmp_path, text=text))
    change = edit.changes[0]
    assert (change.removed, change.cut, len(change.diff or "") < 200_000) == (1_000_000, True, True)
