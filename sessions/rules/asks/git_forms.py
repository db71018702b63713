"""The verbs of git that are understood, as data: those that only read, and the plain forms of a few that act.

The verbs of the log and of the diff take any option of both, and one of them (``--output``) writes a file: so only
those that are listed are understood.  git reads a verb's long options also if they are shortened; here they are in
full.  Seen in git 2.39.5.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agentdash.sessions.rules.asks.command_forms import Form, Read, form_of, read
from agentdash.sessions.rules.asks.places import Place, is_in
from agentdash.sessions.rules.asks.repository import REMOTE, may_be_path, trouble

_DIFF = (
    "-p -u -s -z -R -a -b -w -W -r -t -D -U=N -M?T -C?T -B?T -S=T -G=T --patch --no-patch --raw --patch-with-raw"
    " --patch-with-stat --unified=N --minimal --patience --histogram --diff-algorithm=T --stat?T --numstat --shortstat"
    " --dirstat?T --summary --compact-summary --name-only --name-status --color?T --no-color --color-moved?T"
    " --word-diff?T --color-words?T --word-diff-regex=T --no-renames --check --full-index --binary --abbrev?N"
    " --no-abbrev --find-renames?T --find-copies?T --find-copies-harder --diff-filter=T --pickaxe-regex --pickaxe-all"
    " --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines"
    " --inter-hunk-context=N --function-context --no-ext-diff --no-textconv --ignore-submodules?T --src-prefix=T"
    " --dst-prefix=T --no-prefix --line-prefix=T"
)
_REVISIONS = (
    "-# -n=N --max-count=N --skip=N --since=T --after=T --until=T --before=T --author=T --committer=T --grep=T"
    " --all-match --invert-grep -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp"
    " --basic-regexp --merges --no-merges --first-parent --all --branches?T --tags?T --remotes?T --glob:T --exclude:T"
    " --not --reverse --date-order --author-date-order --topo-order --format:F --pretty?F --abbrev-commit"
    " --no-abbrev-commit --date:T --relative-date --parents --children --left-right --cherry-pick --cherry"
    " --cherry-mark --boundary --full-history --simplify-merges --ancestry-path --oneline"
)
_LOG = form_of(
    f"{_DIFF} {_REVISIONS} --graph --decorate?T --no-decorate --decorate-refs:T --follow --full-diff --source"
    " --use-mailmap --mailmap --no-mailmap --notes?T --no-notes -m -c --cc --log-size --clear-decorations"
    " --show-pulls -g --walk-reflogs --reflog",
    "revisions",
    groups=False,
)
READING: Mapping[str, Form] = {
    "log": _LOG,
    "show": _LOG,
    "diff": form_of(f"{_DIFF} --cached --staged --merge-base --exit-code --quiet", "revisions", groups=False),
    "status": form_of(
        "-s -b -v -z -u?T --short --branch --porcelain?T --long --untracked-files?T --ignored?T --show-stash"
        " --ahead-behind --no-ahead-behind --no-renames --find-renames?T --column?T --no-column --verbose",
        "paths",
    ),
    "grep": form_of(
        "-i -n -l -L -c -w -v -E -F -G -P -h -H -o -q -a -I -p -W -# -e=T -m=N -A=N -B=N -C=N --cached --untracked"
        " --column --break --heading --count --line-number --ignore-case --word-regexp --name-only"
        " --files-with-matches --files-without-match --show-function --function-context --all-match --and --or"
        " --not --max-depth=N --color?T --no-color --full-name --extended-regexp --fixed-strings --perl-regexp"
        " --basic-regexp --invert-match --only-matching --quiet --text --null --max-count=N --after-context=N"
        " --before-context=N --context=N",
        "pattern-revisions",
        patterns=frozenset({"-e"}),
    ),
    "ls-files": form_of(
        "-c -d -m -o -i -s -u -t -v -k -z -x=T --cached --deleted --modified --others --ignored --stage --unmerged"
        " --killed --exclude=T --exclude-standard --full-name --error-unmatch --abbrev?N --directory"
        " --no-empty-directory --deduplicate --eol",
        "paths",
    ),
    "ls-tree": form_of(
        "-d -r -t -l -z --name-only --name-status --full-name --full-tree --abbrev?N --long", "revisions"
    ),
    "rev-parse": form_of(
        "-q --show-toplevel --abbrev-ref?T --short?N --verify --quiet --git-dir --absolute-git-dir --git-common-dir"
        " --is-inside-work-tree --is-bare-repository --show-prefix --show-cdup --symbolic-full-name --symbolic",
        "revisions",
        groups=False,
    ),
    "rev-list": form_of(
        f"{_REVISIONS} --count --objects --header --timestamp --max-parents:N --min-parents:N",
        "revisions",
        groups=False,
    ),
    "cat-file": form_of("-p -t -s -e", "revisions", most=1),
    "blame": form_of(
        "-L=T -s -e -w -f -n -l -t -b -c -p -M?T -C?T --date:T --porcelain --line-porcelain --show-email"
        " --show-name --show-number --root --color-lines --since=T --abbrev?N",
        "revisions",
        groups=False,
    ),
    "shortlog": form_of(
        "-s -n -e -c --summary --numbered --email --committer --all --since:T --until:T --after:T --before:T"
        " --no-merges --author:T --format:F --group:F",
        "revisions",
    ),
    "describe": form_of(
        "--tags --all --always --long --abbrev:N --match:T --exclude:T --exact-match --contains --first-parent"
        " --candidates:N",
        "revisions",
    ),
    "branch": form_of(
        "-a -r -v -q --all --remotes --verbose --show-current --list --sort:F --color?T --no-color --column?T"
        " --no-column --merged?T --no-merged?T --contains?T --no-contains?T --points-at:T --ignore-case --abbrev?N",
        "revisions",
    ),
    "tag": form_of(
        "-l -n?N -i --list --sort:F --contains?T --no-contains?T --merged?T --no-merged?T --points-at:T --column?T"
        " --no-column --color?T --ignore-case",
        "revisions",
    ),
    "remote": form_of("-v --verbose"),
    "remote get-url": form_of("--all --push", "revisions", most=1),
    "stash list": form_of("-# -n=N --oneline --stat", groups=False),
    "stash show": form_of(
        "-p -u --patch --stat --name-only --name-status --numstat", "revisions", most=1, groups=False
    ),
    "worktree list": form_of("-v -z --porcelain --verbose"),
    "merge-base": form_of("-a --all --is-ancestor --fork-point --octopus --independent", "revisions"),
    "count-objects": form_of("-v -H --verbose --human-readable"),
    "version": form_of("--build-options"),
}

ACTING: Mapping[str, Form] = {
    "add": form_of("-A -u -v -n -N --all --update --verbose --dry-run --intent-to-add", "paths"),
    "commit": form_of(
        "-m=T -a -q -v -s --message=T --all --quiet --no-edit --allow-empty --signoff --dry-run", "paths"
    ),
    "push": form_of("-u -q -v -n --set-upstream --quiet --verbose --dry-run --progress --porcelain --tags", "texts"),
    "fetch": form_of("-q -v -p -t --quiet --verbose --prune --all --tags --dry-run --progress --depth:N", "texts"),
    "pull": form_of("-q -v -r --quiet --verbose --ff-only --rebase --no-rebase --no-edit --progress", "texts"),
    "switch": form_of("-c=T -q -d --create=T --quiet --detach", "revisions", most=2),
    "checkout": form_of("-b=T -q --quiet", "none"),
}
_REFSPEC = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*(?::[A-Za-z0-9_][A-Za-z0-9_./-]*)?")
_LISTING = ("--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
_OF_WORKTREE = frozenset({"status", "diff", "grep", "add", "commit", "switch", "pull", "checkout", "ls-files"})
"""Verbs that read the files of the index."""


def is_understood(words: Sequence[str], place: Place, *, acts: bool) -> bool:
    """Return whether the arguments of git are of an understood form.

    Args:
        words: the words behind ``git``.
        acts: the plain forms of verbs that write count as well.
    """
    if list(words) == ["--version"]:
        return True
    rest, here = list(words), place
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "-C" and rest:
            below = here.below(rest.pop(0))
            if below is None:
                return False
            here = below
        elif option not in ("--no-pager", "--no-optional-locks", "--literal-pathspecs"):
            return False
    return _is_verb(rest, here, acts=acts)


def _is_verb(words: Sequence[str], place: Place, *, acts: bool) -> bool:
    two = " ".join(words[:2])
    verb, arguments = (two, words[2:]) if two in READING else ("".join(words[:1]), words[1:])
    form = READING.get(verb) or (ACTING.get(verb) if acts else None)
    found = read(form, arguments) if form is not None else None
    if form is None or found is None or not _has_operands_in(form, found, place):
        return False
    check = _CHECKS.get(verb)
    if check is not None and not check(found, place):
        return False
    remote = verb in ("push", "fetch", "pull")
    return not trouble(place, worktree=verb in _OF_WORKTREE, remote=remote)


def _has_operands_in(form: Form, found: Read, place: Place) -> bool:
    operands = list(found.operands)
    if form.operands == "pattern-revisions" and not found.has(*form.patterns):
        del operands[:1]
    # A colon at the beginning is a pathspec of another folder, or a search through the history.
    return form.operands == "texts" or all(place.has(word) and not word.startswith(":") for word in operands)


def _named_remote(found: Read, place: Place) -> bool:
    """A remote is one of the names in the settings: git takes a folder of the same name as an address."""
    remote, refs = found.operands[:1], found.operands[1:]
    plain = all(map(REMOTE.fullmatch, remote)) and all(map(_REFSPEC.fullmatch, refs))
    # git goes to the top folder of the repository before it reads a path
    folders = [folder for folder in (Path(place.cwd), *Path(place.cwd).parents) if is_in(str(folder), place.folder)]
    return plain and not any(may_be_path(name, folder) for name in remote for folder in folders)


_CHECKS: Mapping[str, Callable[[Read, Place], bool]] = {
    # Without an option that makes it list, branch and tag create what their operand names.
    "branch": lambda found, _: not found.operands or found.has(*_LISTING),
    "tag": lambda found, _: not found.operands or found.has("-l", *_LISTING),
    "commit": lambda found, _: found.has("-m", "--message"),  # else git opens the editor
    "push": _named_remote,
    "fetch": _named_remote,
    "pull": _named_remote,
    "checkout": lambda found, _: [name for name, _ in found.options if name == "-b"] == ["-b"],
}
