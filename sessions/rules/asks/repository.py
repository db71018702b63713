"""The repository that git would find in a folder, and the programs that its settings can name.

The settings of the user are the user's.  Those of the repository are read as a text, and each key must be one that is
known to name no program: a file system monitor, a pager, a filter, a diff driver, an alias, a helper, a remote that is
fetched from while it is read, and what a later version of git adds, are not in the list.  The index is read without git
(the format of ``gitformat-index``, versions 2 and 3).
"""

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from agentdash.sessions.rules.asks.places import Place, is_folder, is_in, real, resolved

_MOST_INDEX_BYTES = 64 * 1024 * 1024
_SUBMODULE = 0o160000
_EXTENDED = 0x4000
_SPLIT = b"link"
"""The first extension of an index of which other entries are in another file."""


def may_leave(git: Path, top: Path) -> bool:
    """Return whether git may read outside of its repository while it walks through the files of the index.

    A submodule has settings of its own, and a link in the place of a folder leads to another (git 2.39 greps there).
    """
    path = git / "index"
    if not os.path.lexists(path):
        return False
    found = _index_entries(path)
    if found is None or any(mode & 0o170000 == _SUBMODULE for mode, _ in found):
        return True
    folders = {name.rpartition(b"/")[0] for _, name in found}
    above = {part for folder in folders for part in _with_parents(folder)}
    return any(_is_link(top / os.fsdecode(folder)) for folder in above)


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except OSError:
        return True


def _with_parents(folder: bytes) -> Iterator[bytes]:
    while folder:
        yield folder
        folder = folder.rpartition(b"/")[0]


def _index_entries(path: Path) -> list[tuple[int, bytes]] | None:
    """Return the mode and the name of each entry; None if the file is not one that is understood."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_INDEX_BYTES + 1)
        magic, version, number = struct.unpack_from(">4sLL", data)
        if magic != b"DIRC" or version not in (2, 3) or len(data) > _MOST_INDEX_BYTES:
            return None
        found, at = [], 12
        for _ in range(number):
            mode, flags = struct.unpack_from(">24xL32xH", data, at)
            begin = at + (64 if flags & _EXTENDED else 62)
            end = data.index(b"\0", begin)
            found.append((mode, data[begin:end]))
            # An entry ends with one to eight NUL bytes, up to a multiple of eight.
            at += (end - at + 8) // 8 * 8
        if data[at : at + 4] == _SPLIT:
            return None
    except (OSError, struct.error, ValueError):
        return None
    return found


_MOST_BYTES = 256 * 1024

_SECTION = re.compile(r"\[\s*(?P<section>[A-Za-z0-9.-]+)(?:\s+\"(?P<sub>[^\"\\]*)\")?\s*\]")
_ENTRY = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9-]*)\s*(?:=(?P<value>[^\\]*))?")
_URL = re.compile(r"(?:https?|ssh|git)://[A-Za-z0-9_][^\s]*|[A-Za-z0-9_][\w.-]*@[A-Za-z0-9_][\w.-]*:[^\s:]*")
_NAME = re.compile(r"\.|[A-Za-z0-9_][\w./-]*")
REMOTE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""The name of a remote."""
NO_SERVER = "the repository's settings name no plain server"

_KNOWN = {
    "core": "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol"
    " safecrlf quotepath abbrev untrackedcache preloadindex longpaths compression checkstat trustctime"
    " sharedrepository protecthfs protectntfs fscache multipackindex sparsecheckout sparsecheckoutcone",
    "user": "name email",
    "author": "name email",
    "committer": "name email",
    "remote.*": "url pushurl fetch tagopt prune",
    "branch.*": "remote merge rebase description pushremote vscode-merge-base gh-merge-base github-pr-owner-number",
    "submodule": "active",
    "submodule.*": "url active",
    "init": "defaultbranch",
    "pull": "rebase ff",
    "push": "default autosetupremote followtags",
    "fetch": "prune prunetags",
    "merge": "conflictstyle ff",
    "rebase": "autostash autosquash",
    "rerere": "enabled",
    "gc": "auto",
    "log": "date decorate",
    "status": "short branch showuntrackedfiles",
    "diff": "algorithm renames colormoved mnemonicprefix noprefix",
    "extensions": "worktreeconfig refstorage",
    "lfs": "repositoryformatversion",
    "maintenance": "auto strategy",
    "index": "version",
}
_KEYS = frozenset(f"{section}.{name}" for section, names in _KNOWN.items() for name in names.split())
_HOOKS = frozenset({".husky", ".husky/_"})
"""Folders of hooks that no rule lets an agent write."""
_HOOK = "post-index-change"
"""The one hook that verbs run which only read: they note the times of files in the index."""


def trouble(place: Place, *, worktree: bool, remote: bool) -> str:
    """Return the reason why git could run a program or read elsewhere, as a clause; empty if it does not.

    Args:
        worktree: the verb reads the files of the index, also in submodules.
        remote: the verb talks to a server, whose address must be one.
    """
    found = _repository(Path(place.cwd))
    if found is None:
        return ""  # git ends with an error, or compares two files of the folder
    top, git = found
    if git is None or not is_in(str(top), place.folder):
        return "no plain git repository of the folder"
    if not _is_of(git, top, place) or _borrows(git):
        return "it may read another repository"
    if reason := _of_settings(top, git, remote=remote):
        return reason
    if worktree and any(
        os.path.lexists(folder / _HOOK) for folder in (_common(git) / "hooks", *map(top.joinpath, _HOOKS))
    ):
        return "a hook may run"
    return "it may read files outside of the repository" if worktree and may_leave(git, top) else ""


def _of_settings(top: Path, git: Path, *, remote: bool) -> str:
    common = _common(git)
    further = [folder / "config.worktree" for folder in {git, common}]
    for path in (common / "config", *(path for path in further if os.path.lexists(path))):
        entries = _entries(path)
        if entries is None or not all(_is_harmless(key, value, top, git) for key, value in entries):
            return "the repository's settings may run a program"
        if remote and not all(_is_address(key, value, top) for key, value in entries):
            return NO_SERVER
    return NO_SERVER if remote and any(map(_has_entries, (common / "remotes", common / "branches"))) else ""


def may_be_path(name: str, folder: Path) -> bool:
    """Return whether git would take the name of a remote without an address for a repository in a folder."""
    return any(os.path.lexists(folder / f"{name}{end}") for end in ("", ".git", ".bundle"))


def _is_of(git: Path, top: Path, place: Place) -> bool:
    """Return whether a git folder is in the session's folder, or names its top folder as a worktree or submodule does.

    Otherwise a ``.git`` that an agent wrote shows the files of any repository of the user.
    """
    if is_in(str(git), place.folder):
        return True
    back = _text(git / "gitdir", 4_096)
    if back is not None and resolved(back.rstrip("\r\n"), str(git)) == str(top / ".git"):
        return True
    return any(key == "core.worktree" for key, _ in _entries(git / "config") or ())


def _borrows(git: Path) -> bool:
    """Return whether a repository has objects of others, or a common folder whose name cannot be read."""
    unread = os.path.lexists(git / "commondir") and not _text(git / "commondir", 4_096)
    return unread or os.path.lexists(_common(git) / "objects" / "info" / "alternates")


def _has_entries(folder: Path) -> bool:
    """Return whether a folder has entries: git reads addresses also from such files of its first versions."""
    try:
        return any(True for _ in folder.iterdir())
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _repository(top: Path) -> tuple[Path, Path | None] | None:
    """Return the top folder and the git folder that git would find from a folder on; None if there is none.

    The git folder is None if it is not a plain one: files that an agent may write can look like a repository.  Like
    git, this passes over an empty ``.git``, which codex's sandbox leaves in folders that it protects (0.171.0).
    """
    for folder in (top, *top.parents):
        if os.path.lexists(folder / ".git") and not _is_empty(folder / ".git"):
            git = _git_folder(folder / ".git")
            return folder, git if git is not None and _is_repository(git) else None
        if _is_repository(folder):
            return folder, None
    return None


def _is_empty(path: Path) -> bool:
    return is_folder(path) and not path.is_symlink() and not _has_entries(path)


def _git_folder(path: Path) -> Path | None:
    """Return the real git folder of ``.git``, which is a folder, a link or a file with its path; None if neither."""
    if is_folder(path):
        return Path(real(str(path), "/"))
    text = _text(path, 4_096)
    if text is None or not text.startswith("gitdir: "):
        return None
    return Path(real(text.removeprefix("gitdir: ").rstrip("\r\n"), str(path.parent)))


def _is_repository(folder: Path) -> bool:
    """Return whether git may take a folder for a git folder: rather yes than no."""
    head, objects, refs, common = (os.path.lexists(folder / name) for name in ("HEAD", "objects", "refs", "commondir"))
    return head and (common or (objects and refs))


def _common(git: Path) -> Path:
    text = _text(git / "commondir", 4_096)
    return Path(real(text.rstrip("\r\n"), str(git))) if text else git


def _text(path: Path, most: int) -> str | None:
    """Return the text of a regular file; None if it cannot be read, or is larger."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            data = file.read(most + 1)
        return data.decode() if len(data) <= most else None
    except (OSError, ValueError):
        return None


def _entries(path: Path) -> list[tuple[str, str]] | None:
    """Return the keys and values of a file of settings; None if a line is not of the plain form."""
    text = _text(path, _MOST_BYTES)
    if text is None:
        return None
    section = ""
    found: list[tuple[str, str]] = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        if line[0] in "#;":
            continue
        if (head := _SECTION.fullmatch(line)) is not None:
            section = head["section"].casefold() + (".*" if head["sub"] is not None else "")
        elif (entry := _ENTRY.fullmatch(line)) is not None and section:
            found.append((f"{section}.{entry['key'].casefold()}", (entry["value"] or "").strip()))
        else:
            return None
    return found


def _is_harmless(key: str, value: str, top: Path, git: Path) -> bool:
    if key == "core.hookspath":
        return value in _HOOKS
    if key == "core.worktree":
        return real(value, str(git)) == real(str(top), "/")
    if key == "branch.*.remote":
        return _NAME.fullmatch(value) is not None
    return key in _KEYS


def _is_address(key: str, value: str, top: Path) -> bool:
    """Return whether a setting is the address of a server or the name of a remote, if it is one that git connects to.

    A name is not also that of a folder: git pushes to a repository in it, whose hooks then run.
    """
    if key in ("remote.*.url", "remote.*.pushurl"):
        return _URL.fullmatch(value) is not None
    if key in ("branch.*.remote", "branch.*.pushremote"):
        return value == "." or (REMOTE.fullmatch(value) is not None and not may_be_path(value, top))
    return True
