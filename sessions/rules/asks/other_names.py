"""May a command be one that a rule denies, under another name?  Pure.

A rule that denies or asks keeps later rules from allowing what may be its command: by its path, behind another program,
in a shell, with options in between, under another name of the program, by another verb for the same act, or by an
alias.  The table errs on the side of asking.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

_WORDS = re.compile(r"[\w.+]+")

_PROGRAMS = (
    "git hub lab jj",
    "python python pypy ipython uv poetry pipenv",
    "node nodejs deno bun",
    "npm npx pnpm pnpx yarn yarnpkg bun bunx corepack",
    "pip pipx uv poetry pipenv conda",
    "make gmake bmake ninja",
    "docker podman nerdctl",
    "rm unlink shred rmdir trash find rsync mv truncate",
    "cat head tail less more most nl tac sed awk grep rg cut dd strings xxd od base64 bat",
    "grep egrep fgrep rg ag ack zgrep sed awk",
    "curl wget http https fetch aria2c",
    "ssh scp sftp rsync mosh",
    "sudo doas su pkexec run0",
    "sh bash dash zsh ksh fish ash busybox",
    "kill killall pkill",
    "vi vim nvim ex view ed",
    "find fd fdfind locate",
    "cp install rsync dd tee tar",
    "chmod chown setfacl install",
)
_VERBS: Mapping[str, str] = {
    "push": "send-pack http-push push svn dcommit subtree p4 submit lfs remote-http remote-https",
    "fetch": "fetch-pack http-fetch pull clone update ls-remote lfs submodule",
    "pull": "fetch merge rebase",
    "clone": "fetch init submodule worktree",
    "commit": "commit-tree merge cherry-pick revert am rebase pull gui citool stash update-ref fast-import",
    "merge": "pull merge-file merge-tree merge-index read-tree cherry-pick rebase",
    "checkout": "switch restore checkout-index read-tree worktree reset stash",
    "switch": "checkout worktree symbolic-ref",
    "restore": "checkout reset checkout-index read-tree stash",
    "reset": "restore read-tree update-index checkout update-ref switch",
    "branch": "update-ref symbolic-ref checkout switch",
    "tag": "update-ref mktag",
    "rebase": "pull cherry-pick am reset",
    "rm": "update-index clean mv",
    "clean": "rm stash",
    "add": "update-index stage commit apply stash",
    "stash": "reset restore",
    "config": "remote init clone",
    "log": "show rev-list shortlog reflog whatchanged blame annotate cat-file diff-tree",
    "show": "log cat-file whatchanged diff-tree archive",
    "diff": "diff-files diff-index diff-tree difftool show log stash range-diff status",
    "blame": "annotate log show",
    "status": "diff ls-files diff-files diff-index",
}
"""The other verbs of git that can do what a verb does."""


def may_be(line: str, wanted: Sequence[str]) -> bool:
    """Return whether a line may have the wanted command.

    Args:
        wanted: the first words of a rule.
    """
    found = [without_version(word) for word in _WORDS.findall(line.replace("-", " "))]
    whole = [without_version(word.rpartition("/")[2]) for word in re.split(r"[\s'\";&|]+", line) if word]
    return any(_in_order(names, wanted) for names in (found, whole))


def _in_order(names: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether words that stand for the wanted ones are there in their order, whatever is in between."""
    rest: Iterator[str] = iter(names)
    return all(any(name in accepted for name in rest) for accepted in _accepted(wanted))


def _accepted(wanted: Sequence[str]) -> Iterator[frozenset[str]]:
    program = without_version(wanted[0].rpartition("/")[2])
    same = {program}.union(*(names for line in _PROGRAMS if program in (names := line.split())))
    yield frozenset(same | {f"{program}-{word}" for word in wanted[1:2]})
    for number, word in enumerate(wanted[1:], 1):
        plain = without_version(word.rpartition("/")[2])
        verbs = _VERBS.get(plain, "").split() if program == "git" and number == 1 else []
        yield frozenset({plain, word, *verbs})


def without_version(word: str) -> str:
    """Return a name without the version at its end: ``python3.11``, ``pip-3``."""
    name = word.casefold()
    before = name.rstrip("0123456789.")
    version = name[len(before) :].lstrip(".")  # dots alone, or before a version, belong to the name
    if not version:
        return name
    rest = name.removesuffix(version)
    return rest[: -1 if rest.endswith(("-", ".")) else None] or name
