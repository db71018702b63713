"""What git itself would read and run in a folder: a repository's own settings can name programs.

The settings of the user are the user's.  Those of the repository are read as a text, and each key must be one that is
known to name no program: a file system monitor, a pager, a filter, a diff driver, an alias, a helper, a remote that is
fetched from while it is read, and what a later version of git adds, are not in the list.
"""

import os
import re
from collections.abc import Iterator

from .places import Place, is_in, real

_MOST_BYTES = 256 * 1024
_MOST_INDEX_BYTES = 64 * 1024 * 1024
_SUBMODULE = b"\x00\x00\xe0\x00"
"""The mode of a submodule in an index: 160000 octal."""

_SECTION = re.compile(r"\[\s*(?P<section>[A-Za-z0-9.-]+)(?:\s+\"(?P<sub>[^\"\\]*)\")?\s*\]")
_ENTRY = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(?P<value>[^\\]*?))?\s*")
_URL = re.compile(r"(?:https?|ssh|git)://[A-Za-z0-9_][^\s]*|[A-Za-z0-9_][\w.-]*@[A-Za-z0-9_][\w.-]*:[^\s:]*")
_NAME = re.compile(r"\.|[A-Za-z0-9_][\w.-]*")

_CORE = (
    "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf"
    " quotepath abbrev untrackedcache preloadindex longpaths compression checkstat trustctime sharedrepository"
    " protecthfs protectntfs fscache multipackindex sparsecheckout sparsecheckoutcone"
)
_KNOWN = frozenset(
    {f"core.{name}" for name in _CORE.split()}
    | set(
        "user.name user.email author.name author.email committer.name committer.email remote.*.url remote.*.pushurl"
        " remote.*.fetch remote.*.tagopt remote.*.prune branch.*.remote branch.*.merge branch.*.rebase"
        " branch.*.description branch.*.pushremote branch.*.vscode-merge-base branch.*.gh-merge-base"
        " branch.*.github-pr-owner-number submodule.active submodule.*.url submodule.*.active init.defaultbranch"
        " pull.rebase pull.ff push.default push.autosetupremote push.followtags fetch.prune fetch.prunetags"
        " merge.conflictstyle merge.ff rebase.autostash rebase.autosquash rerere.enabled gc.auto log.date log.decorate"
        " status.short status.branch status.showuntrackedfiles diff.algorithm diff.renames diff.colormoved"
        " diff.mnemonicprefix diff.noprefix extensions.worktreeconfig extensions.objectformat extensions.refstorage"
        " lfs.repositoryformatversion maintenance.auto maintenance.strategy index.version".split()
    )
)
_HOOKS = frozenset({".husky", ".husky/_"})
"""Folders of hooks that no rule lets an agent write."""


def trouble(place: Place, *, worktree: bool, remote: bool) -> str:
    """Return the reason why git could run a program or read elsewhere, as a clause; empty if it does not.

    Args:
        place: the folder, and the folder in which git would run.
        worktree: the verb compares files with the index, and so looks into submodules.
        remote: the verb talks to a server, whose address must be one.
    """
    found = _repository(place.cwd)
    if found is None:
        return ""  # git ends with an error, or compares two files of the folder
    top, git = found
    if not git or not is_in(top, place.folder):
        return "no plain git repository of the folder"
    common = _common(git)
    files = [os.path.join(common, "config"), *(os.path.join(one, "config.worktree") for one in {git, common})]
    for path in files:
        if not os.path.lexists(path) and not path.endswith("/config"):
            continue
        entries = _entries(path)
        if entries is None or not all(_is_harmless(key, value, top, git) for key, value in entries):
            return "the repository's settings may run a program"
        if remote and not all(_is_address(key, value) for key, value in entries):
            return "the repository's settings name no plain server"
    return "it may run git in a submodule" if worktree and _has_submodules(git) else ""


def _repository(top: str) -> tuple[str, str] | None:
    """Return the top folder and the git folder that git would find from a folder on; None if there is none.

    The git folder is empty if it is not a plain one: an agent may write files that look like a repository without files.
    """
    while True:
        git = os.path.join(top, ".git")
        if os.path.lexists(git):
            git = _git_folder(git)
            return top, git if _is_repository(git) else ""
        if _is_repository(top):
            return top, ""
        if top == os.path.dirname(top):
            return None
        top = os.path.dirname(top)


def _git_folder(path: str) -> str:
    """Return the real git folder of ``.git``, which is a folder, a link or a file with its path; empty if neither."""
    if os.path.isdir(path):
        return real(path, "/")
    text = _text(path, 4_096)
    if text is None or not text.startswith("gitdir: "):
        return ""
    return real(text.removeprefix("gitdir: ").rstrip("\r\n"), os.path.dirname(path))


def _is_repository(folder: str) -> bool:
    """Return whether git may take a folder for a git folder: rather yes than no."""
    has = [os.path.lexists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs", "commondir")]
    return bool(folder) and has[0] and (has[3] or (has[1] and has[2]))


def _common(git: str) -> str:
    text = _text(os.path.join(git, "commondir"), 4_096)
    return real(text.rstrip("\r\n"), git) if text else git


def _text(path: str, most: int) -> str | None:
    """Return the text of a regular file; None if it cannot be read, or is larger."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            data = file.read(most + 1)
        return data.decode() if len(data) <= most else None
    except (OSError, ValueError):
        return None


def _entries(path: str) -> list[tuple[str, str]] | None:
    """Return the keys and values of a file of settings; None if a line is not of the plain form."""
    text = _text(path, _MOST_BYTES)
    if text is None:
        return None
    section, found = "", []
    for line in _lines(text):
        if (head := _SECTION.fullmatch(line)) is not None:
            section = head["section"].casefold() + (".*" if head["sub"] is not None else "")
        elif (entry := _ENTRY.fullmatch(line)) is not None and section:
            found.append((f"{section}.{entry['key'].casefold()}", entry["value"] or ""))
        else:
            return None
    return found


def _lines(text: str) -> Iterator[str]:
    lines = (line.strip() for line in text.replace("\r\n", "\n").split("\n"))
    return (line for line in lines if line and line[0] not in "#;")


def _is_harmless(key: str, value: str, top: str, git: str) -> bool:
    if key == "core.hookspath":
        return value in _HOOKS
    if key == "core.worktree":
        return real(value, git) == real(top, "/")
    if key == "branch.*.remote":
        return _NAME.fullmatch(value) is not None
    return key in _KNOWN


def _is_address(key: str, value: str) -> bool:
    return key not in ("remote.*.url", "remote.*.pushurl") or _URL.fullmatch(value) is not None


def _has_submodules(git: str) -> bool:
    """Return whether an index of the repository may have submodules; each has settings of its own."""
    try:
        names = [name for name in os.listdir(git) if name == "index" or name.startswith("sharedindex")]
        for name in names:
            with open(os.path.join(git, name), "rb") as file:
                data = file.read(_MOST_INDEX_BYTES + 1)
            if _SUBMODULE in data or len(data) > _MOST_INDEX_BYTES:
                return True
    except OSError:
        return True
    return False
