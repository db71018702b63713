"""The net result of a session in real repositories: commits and staging make no difference to it."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentdash.sessions.model.session import StepStatus
from agentdash.sessions.runner.git import start_state
from agentdash.sessions.service.changes.model import Edit, FileChanges, GitState, NetBasis, NetChanges, NetFile
from agentdash.sessions.service.changes.net import net_changes, net_diffs
from agentdash.sessions.storage.paths import SessionFolder

ODD_NAMES = ("sp ace", "new\nline", "tab\tquote\"'", "žluť\u202e", "-x", ":(top)a", "*", "a\\b", "..dots", ":100644 a")


class Session:
    """A repository and the folder of a session that began in it."""

    def __init__(self, path: Path) -> None:
        self.top = path / "api"
        self.top.mkdir()
        self.folder = SessionFolder(path / "session")
        self.folder.path.mkdir()
        self("init", "-q")
        self("config", "user.email", "ann@example.org")
        self("config", "user.name", "Ann")

    def __call__(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", str(self.top), *arguments], check=True, capture_output=True)

    def put(self, name: str, text: str | bytes) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self) -> None:
        self("add", "-A")
        self("commit", "-q", "-m", "x")

    def begin(self, cwd: Path | None = None) -> None:
        start_state.record(self.folder, str(cwd or self.top))

    def net(self, *edited: FileChanges, cwd: Path | None = None) -> NetChanges:
        start = start_state.read(self.folder)
        return net_changes(str(cwd or self.top), edited, start, self.folder.start_objects)

    def told(self, *edited: FileChanges) -> list[tuple[str, str, str, int | None, int | None]]:
        return [(one.path, one.kind, one.content, one.added, one.removed) for one in self.net(*edited).files]

    def diff(self, name: str) -> str:
        (file,) = (one for one in self.net().files if one.path == name)
        return net_diffs(str(self.top), start_state.read(self.folder), self.folder.start_objects)(file).text


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The settings of the user who runs the tests have no effect on them."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "global-settings"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def session(tmp_path: Path, require_tool: Callable[[str], str]) -> Session:
    require_tool("git")
    return Session(tmp_path)


def edited(session: Session, name: str, *diffs: str | None, kind: str = "update") -> FileChanges:
    """A file with one recorded edit for each diff."""
    edits = tuple(
        Edit(turn=1, index=n, kind=kind if n == 0 else "update", status=StepStatus.OK, diff=diff, added=1, removed=1)
        for n, diff in enumerate(diffs)
    )
    return FileChanges(
        path=name, absolute=str(session.top / name), kind=kind, touched=len(edits), added=1, removed=1, edits=edits
    )


def test_two_lines_added_in_three_edits_are_two_lines(session: Session) -> None:
    session.put("notes.txt", "one\n")
    session.commit()
    session.begin()
    session.put("notes.txt", "one\ntwo, edited\nthree\n")
    assert session.told() == [("notes.txt", "update", "text", 2, 0)]
    assert session.net().basis is NetBasis.START
    assert session.diff("notes.txt") == "@@ -1 +1,3 @@\n one\n+two, edited\n+three\n"


def test_new_moved_deleted_binary_links_and_empty_files(session: Session) -> None:
    session.put("gone", "x\ny\n")
    session.put("old/name", "".join(f"{n}\n" for n in range(50)))
    session.put("run.sh", "x\n")
    session.commit()
    session.begin()
    (session.top / "gone").unlink()
    session.put("new/deep", "1\n2\n3\n")
    session.put("image", b"\0\1\2")
    session.put("empty", "")
    (session.top / "old/name").rename(session.top / "name")
    (session.top / "link").symlink_to("nowhere")
    (session.top / "run.sh").chmod(0o755)
    assert session.told() == [
        ("empty", "add", "text", 0, 0),
        ("gone", "delete", "text", 0, 2),
        ("image", "add", "binary", None, None),
        ("link", "add", "link", 1, 0),
        ("name", "update", "text", 0, 0),
        ("new/deep", "add", "text", 3, 0),
        ("run.sh", "update", "text", 0, 0),
    ]
    assert {one.path: one.moved_from for one in session.net().files if one.moved_from} == {"name": "old/name"}
    assert session.diff("new/deep") == "@@ -0,0 +1,3 @@\n+1\n+2\n+3\n"
    assert session.diff("gone") == "@@ -1,2 +0,0 @@\n-x\n-y\n"
    assert "Binary files" in session.diff("image")
    assert "rename from old/name" in session.diff("name")
    assert "new mode 100755" in session.diff("run.sh")


def test_work_that_was_there_before_the_session_is_not_its_result(session: Session) -> None:
    for name in ("edited", "staged", "removed", "same"):
        session.put(name, "1\n")
    session.commit()
    for name in ("edited", "staged", "untracked", "empty", "both"):
        session.put(name, "" if name == "empty" else "1\n2\n")
    session.put("data", b"\0\1")
    session("add", "staged", "both")
    session("rm", "-q", "removed")
    session.put("both", "1\n2\n3\n")
    before = subprocess.run(["git", "-C", session.top, "status", "--porcelain"], capture_output=True, check=True).stdout
    session.begin()
    assert session.told() == []
    session.put("untracked", "1\n2\n3\n")
    session.put("edited", "1\n")
    assert session.told() == [("edited", "update", "text", 0, 1), ("untracked", "update", "text", 1, 0)]
    assert session.diff("untracked") == "@@ -1,2 +1,3 @@\n 1\n 2\n+3\n"
    session.put("edited", "1\n2\n")
    after = subprocess.run(["git", "-C", session.top, "status", "--porcelain"], capture_output=True, check=True).stdout
    assert before == after


def test_commits_of_the_session_change_nothing_of_its_result(session: Session) -> None:
    session.put("a", "1\n")
    session.commit()
    session.begin()
    session.put("a", "1\n2\n")
    session.put("b", "1\n")
    before = session.told()
    session.commit()
    assert session.told() == before == [("a", "update", "text", 1, 0), ("b", "add", "text", 1, 0)]
    session("checkout", "-q", "-b", "other")
    session("reset", "-q", "--hard", "HEAD~1")
    assert session.told() == []


@pytest.mark.parametrize("dirty", [False, True])
def test_a_repository_without_commits(session: Session, *, dirty: bool) -> None:
    if dirty:
        session.put("before", "1\n")
    session.begin()
    session.put("a", "1\n")
    assert session.told() == [("a", "add", "text", 1, 0)]
    session.commit()
    assert session.told() == [("a", "add", "text", 1, 0)]


def test_the_repository_gets_nothing(session: Session) -> None:
    session.put("a", "1\n")
    session.commit()
    session.put("a", "2\n")
    session.put("b", "1\n")
    inside = session.top / ".git"

    def files() -> dict[Path, tuple[int, int]]:
        return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in inside.rglob("*") if path.is_file()}

    before = files()
    session.begin()
    session.put("a", "3\n")
    session.put("c", "3\n")
    assert [one.path for one in session.net().files] == ["a", "c"]
    assert session.diff("c")
    assert files() == before
    assert all(path.stat().st_mode & 0o077 == 0 for path in session.folder.start_objects.rglob("*"))


def test_a_clean_start_is_one_small_file(session: Session) -> None:
    session.put("a", "1\n")
    session.commit()
    session.begin()
    assert [path.name for path in session.folder.path.iterdir()] == ["start.json"]


def test_names_of_any_form(session: Session) -> None:
    session.put("a", "1\n")
    session.commit()
    session.put(ODD_NAMES[0], "1\n")
    session.begin()
    for name in ODD_NAMES:
        session.put(name, "1\n2\n")
    os.close(os.open(os.fsencode(session.top) + b"/\xff\xfe", os.O_CREAT))
    told = {name: (kind, added) for name, kind, _, added, _ in session.told()}
    assert told == dict.fromkeys(ODD_NAMES, ("add", 2)) | {"sp ace": ("update", 1), "\udcff\udcfe": ("add", 0)}
    for name in ODD_NAMES[1:]:
        assert session.diff(name).endswith("+1\n+2\n"), name


def test_large_files_from_before_are_known_by_size_and_time(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_state, "FILE_BYTES", 10)
    session.put("a", "1\n")
    session.commit()
    for name in ("same", "changed", "gone"):
        session.put(name, "0123456789\n")
    session.begin()
    assert session.told() == []
    session.put("changed", "0123456789\nmore\n")
    (session.top / "gone").unlink()
    assert session.told() == [("changed", "update", "large", None, None), ("gone", "delete", "large", None, None)]


def test_too_many_files_from_before_are_said_and_the_last_commit_is_taken(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_state, "MOST_FILES", 2)
    session.put("a", "1\n")
    session.commit()
    for name in "bcd":
        session.put(name, "1\n")
    session.begin()
    net = session.net()
    assert (net.basis, [one.path for one in net.files]) == (NetBasis.HEAD, ["b", "c", "d"])
    assert net.why == "the session's start was not recorded: more than 2 files differed from the last commit"


def test_a_session_without_a_record_is_compared_with_the_last_commit(session: Session) -> None:
    session.put("a", "1\n")
    session.commit()
    session.put("b", "1\n")
    net = session.net()
    assert (net.basis, net.why) == (NetBasis.HEAD, "the session's start was not recorded")
    assert [(one.path, one.kind, one.added) for one in net.files] == [("b", "add", 1)]


def test_a_start_whose_commit_is_gone_says_so(session: Session) -> None:
    session.put("a", "1\n")
    session.commit()
    session.begin()
    text = session.folder.start.read_text()
    state = start_state.read(session.folder)
    assert state is not None
    session.folder.start.write_text(text.replace(state.tree, "1" * 40))
    assert session.net().basis is NetBasis.HEAD
    assert "cannot be read" in (session.net().why or "")


def test_submodules_and_repositories_within_are_named(session: Session, tmp_path: Path) -> None:
    inner = Session(tmp_path / "inner") if (tmp_path / "inner").mkdir() is None else None
    assert inner is not None
    inner.put("x", "1\n")
    inner.commit()
    session("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.top), "sub")
    session.commit()
    session.begin()
    sub = session.top / "sub"
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run(["git", *who, "-C", sub, "commit", "-q", "--allow-empty", "-m", "y"], check=True)
    subprocess.run(["git", "init", "-q", session.top / "nested"], check=True)
    subprocess.run(["git", *who, "-C", session.top / "nested", "commit", "-q", "--allow-empty", "-m", "y"], check=True)
    assert [(path, kind, content) for path, kind, content, _, _ in session.told()] == [
        ("nested", "add", "repository"),
        ("sub", "update", "submodule"),
    ]
    assert "+Subproject commit" in session.diff("sub")


def test_a_conflict_is_a_file_that_differs(session: Session) -> None:
    session.put("a", "0\n")
    session.commit()
    session("checkout", "-q", "-b", "other")
    session.put("a", "1\n")
    session.commit()
    session("checkout", "-q", "-")
    session.put("a", "2\n")
    session.commit()
    session.begin()
    subprocess.run(["git", "-C", session.top, "merge", "-q", "other"], check=False, capture_output=True)
    assert session.told() == [("a", "update", "text", 4, 0)]


def test_a_folder_below_the_top_has_short_names_of_its_own_files(session: Session) -> None:
    session.put("sub/a", "1\n")
    session.commit()
    session.begin(session.top / "sub")
    session.put("sub/a", "2\n")
    session.put("b", "1\n")
    net = session.net(cwd=session.top / "sub")
    assert [one.path for one in net.files] == [str(session.top / "b"), "a"]


def test_files_of_edits_come_first_and_the_others_are_marked(session: Session) -> None:
    session.put("z", "1\n")
    session.commit()
    session.begin()
    session.put("z", "2\n")
    session.put("a", "1\n")
    net = session.net(edited(session, "z", "@@ -1 +1 @@\n-1\n+2\n"))
    assert [(one.path, one.by_edits) for one in net.files] == [("z", True), ("a", False)]


def test_ignored_files_have_the_result_of_the_edits(session: Session) -> None:
    session.put(".gitignore", "*.log\n")
    session.commit()
    session.begin()
    session.put("x.log", "1\n2\n")
    file = edited(session, "x.log", "@@ -0,0 +1,1 @@\n+1", "@@ -1 +1,2 @@\n 1\n+2\n", kind="add")
    ignored = FileChanges(
        path=file.path, absolute=file.absolute, kind="add", touched=2, added=2, removed=0, edits=file.edits,
        git=GitState(code="!!", words=("ignored",)),
    )  # fmt: skip
    (net,) = session.net(ignored).files
    assert (net.basis, net.kind, net.added, net.removed) == (NetBasis.EDITS, "add", 2, 0)


def without_git(session: Session, name: str, *diffs: str | None, kind: str = "update") -> NetFile | None:
    found = net_changes(
        str(session.top), [edited(session, name, *diffs, kind=kind)], None, session.folder.start_objects, git=False
    )
    assert found.basis is NetBasis.EDITS
    return found.files[0] if found.files else None


def test_without_git_the_edits_are_taken_back(session: Session) -> None:
    first, second = "@@ -2 +2,2 @@\n-2\n+two\n+new\n", "@@ -1,3 +1,2 @@\n-1\n two\n new\n"
    session.put("a", "two\nnew\n3\n")
    net = without_git(session, "a", first, second)
    assert net is not None
    assert (net.kind, net.added, net.removed) == ("update", 2, 2)
    assert net.diff == "@@ -1,3 +1,3 @@\n-1\n-2\n+two\n+new\n 3"
    back = "@@ -1,2 +1,2 @@\n-two\n-new\n+1\n+2\n"
    session.put("a", "1\n2\n3\n")
    assert without_git(session, "a", first, second, back) is None
    session.put("a", "by another program\n")
    net = without_git(session, "a", first, second)
    assert net is not None
    assert (net.kind, net.added, net.diff) == ("update", None, None)
    net = without_git(session, "a", first)
    assert net is not None
    assert (net.added, net.diff) == (1, first)  # all that is known: the edit itself
    net = without_git(session, "a", None, None)
    assert net is not None
    assert net.added is None


def test_without_git_a_file_that_came_and_went_is_no_result(session: Session) -> None:
    assert without_git(session, "a", "@@ -0,0 +1,1 @@\n+1", kind="add") is None
    session.put("a", "1\n2\n")
    net = without_git(session, "a", "@@ -0,0 +1,1 @@\n+1", None, kind="add")
    assert net is not None
    assert (net.kind, net.added, net.removed) == ("add", 2, 0)


def test_a_repository_that_the_session_made_is_compared_by_its_edits(session: Session, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    session.begin(plain)
    subprocess.run(["git", "init", "-q", str(plain)], check=True)
    net = session.net(cwd=plain)
    assert (net.basis, net.why) == (NetBasis.EDITS, "the folder was in no git repository at the session's start")


def test_filters_and_monitors_of_the_repository_do_not_run(session: Session, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    session.put("a", "1\n")
    session.commit()
    session.put(".gitattributes", "* filter=own\n")
    for key in ("filter.own.clean", "filter.own.process", "core.fsmonitor", "core.hooksPath"):
        session("config", key, f"touch {trace}; cat")
    session.put("a", "2\n")
    session.begin()
    session.put("a", "3\n")
    assert ("a", "update", "text", 1, 1) in session.told()
    assert session.diff("a")
    assert not trace.exists()


def test_a_pipe_in_place_of_the_index_stops_nobody(session: Session) -> None:
    session.put("a", "1\n")
    session.commit()
    session.put("a", "2\n")
    (session.top / ".git/index").unlink()
    os.mkfifo(session.top / ".git/index")
    begun = time.monotonic()
    session.begin()
    state = start_state.read(session.folder)
    assert state is not None
    assert (state.tree, bool(state.why)) == ("", True)
    assert begun  # it came back
