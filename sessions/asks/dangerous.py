"""Name the commands that only the user can allow; pure.

A rule that allows a command does not apply to these.  The list is short and errs on the side of asking.  A line that
is not certainly a list of simple commands counts as well, and so does a command that runs another one: their programs
cannot be named for certain.  Aliases and functions of the user's shell, symbolic links, and what a program does after
its start are not known here.
"""

import re
from collections.abc import Callable, Sequence

from .places import has_git_folder, is_in, paths_of
from .simple_command import Simple, commands


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NO_LIST = "it is not a list of simple commands"

_ALWAYS = {
    "it runs with other rights": "sudo doas su pkexec run0 chroot nsenter unshare setpriv runuser",
    "it formats or overwrites a disk": "mkfs mke2fs mkswap dd shred wipefs fdisk sfdisk parted mount umount losetup",
    "it ends processes or the machine": "shutdown reboot halt poweroff init telinit systemctl service killall pkill",
    "it runs other commands": (
        "sh bash dash zsh ksh mksh fish csh tcsh pwsh busybox toybox eval exec source . xargs parallel watch ssh script"
        " expect entr flock strace ltrace gdb tmux screen at batch crontab coproc builtin pushd popd ex vi vim nvim ed"
    ),
    "it changes what later commands mean": (
        "export declare typeset readonly set unset alias unalias hash enable shopt trap"
    ),
}
_REASON = {name: reason for reason, names in _ALWAYS.items() for name in _names(names)}
_WRAPPERS = _names("timeout nice ionice nohup setsid stdbuf command time env chrt taskset")
"""Programs that run the command among their arguments, without a change."""
_INTERPRETERS = re.compile(r"(?:python|perl|ruby|node|nodejs|php|lua|deno|bun|osascript|tclsh)[0-9.]*")
_CODE = re.compile(r"-[a-zA-Z]*[cerpEBRi]|--(?:eval|print|run|require|import|command|exec).*|eval|-")
_NAMES_A_COMMAND = re.compile(
    r"--(?:exec|exec-batch|exec-path|to-command|checkpoint-action|use-compress-program|rsh|rsync-path|upload-pack"
    r"|receive-pack|ext-diff|textconv|open-files-in-pager|pre|pager|editor|shell|unzip-command|hostname-bin|config-env|extcmd)(?:=|$)"
)
_READERS = _names(
    "basename cat cmp cut diff dirname du echo false grep egrep fgrep head jq ls md5sum nl od printf pwd readlink"
    " realpath rg sha1sum sha256sum stat tail test tr true type wc which"
)
"""Programs that write to no file that is named among their arguments; others have only paths in the folder."""
_LINES_OF_FILE = re.compile(r"[0-9]+(?:,(?:[0-9]+|\$))?p|\$p")


def danger(line: str, folder: str, cwd: str) -> str:
    """Return the reason why only the user can allow a line of commands, as a clause; empty if there is none.

    Args:
        line: the line, as the agent would give it to a shell.
        folder: the folder in which it may write; an absolute path.
        cwd: the folder in which it would run; an absolute path.
    """
    found = commands(line)
    if found is None:
        return _NO_LIST
    moved = False
    for one in found:
        if reason := _of_command(one, folder, cwd):
            return reason
        if moved and any(".." in word.split("/") for word in one.words):
            return "it leaves the folder to which it changed"
        moved = moved or _program(one.words) == "cd"
    return ""


def _of_command(one: Simple, folder: str, cwd: str) -> str:
    reason = _of_words(one.words, piped=one.piped)
    if reason or _program(one.words) in _READERS:
        return reason
    for word in one.words[1:]:
        for path in paths_of(word, cwd):
            if path != "/dev/null" and not is_in(path, folder):
                return "it names a path outside the folder"
            if has_git_folder(path):
                return "it names a path in the git folder"
    return ""


def _of_words(words: Sequence[str], *, piped: bool = False) -> str:
    program, arguments = _program(words), words[1:]
    if program in _REASON:
        return _REASON[program]
    if program.startswith("mkfs."):
        return _REASON["mkfs"]
    if any(_NAMES_A_COMMAND.match(word) for word in arguments):
        return _REASON["sh"]
    if program in _WRAPPERS:
        return _of_wrapped(program, arguments)
    if _INTERPRETERS.fullmatch(program) and (piped or not arguments or any(map(_CODE.fullmatch, arguments))):
        return "it runs code that is in no file"
    check = _CHECKS.get(program)
    return check(arguments) if check is not None else ""


def _of_wrapped(program: str, arguments: Sequence[str]) -> str:
    """Check each end of the arguments as a command, because the options of the wrapper are not known."""
    if program == "env" and any(word.startswith("-") or "=" in word for word in arguments):
        return "it changes the environment of a command"
    return next(filter(None, (_of_words(arguments[begin:]) for begin in range(len(arguments)))), "")


def _program(words: Sequence[str]) -> str:
    return words[0].rpartition("/")[2].casefold()


def _short(words: Sequence[str], letters: str) -> bool:
    """Return whether a group of short options has one of these letters."""
    return any(len(word) > 1 and word[0] == "-" != word[1] and set(word[1:]) & set(letters) for word in words)


def _long(words: Sequence[str], *options: str) -> bool:
    """Return whether the words have one of these long options, maybe shortened or with a value."""
    names = [word.partition("=")[0] for word in words if word.startswith("--") and len(word) > 2]
    return any(option.startswith(name) for name in names for option in options)


def _recursive(words: Sequence[str]) -> str:
    found = _short(words, "rR") or _long(words, "--recursive", "--no-preserve-root")
    return "it acts on whole folders" if found else ""


def _find(words: Sequence[str]) -> str:
    acting = ("-delete", "-exec", "-ok", "-fprint", "-fls")
    return "it acts on the files that it finds" if any(word.startswith(acting) for word in words) else ""


def _fd(words: Sequence[str]) -> str:
    return _REASON["sh"] if _short(words, "xX") else ""


def _kill(words: Sequence[str]) -> str:
    return _REASON["killall"] if any(re.fullmatch(r"-?0*[01]|--", word) for word in words) else ""


def _sed(words: Sequence[str]) -> str:
    """Only printing lines by number is known to run and write nothing."""
    prints = len(words) >= 2 and words[0] == "-n" and _LINES_OF_FILE.fullmatch(words[1])
    return "" if prints and not any(word.startswith("-") for word in words[2:]) else "it may write files"


def _awk(words: Sequence[str]) -> str:
    acting = any(re.search(r"system|getline|[|>@]", word) or word.startswith("-") for word in words)
    return "it may run commands or write files" if acting else ""


def _archive(words: Sequence[str]) -> str:
    return _REASON["sh"] if _short(words, "IFeT") else ""


def _cd(words: Sequence[str]) -> str:
    return "" if len(words) == 1 and not words[0].startswith("-") else "it changes to an unknown folder"


def _git(words: Sequence[str]) -> str:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option.startswith("-c"):
            return "it sets options of git"
        if option in ("-C", "--git-dir", "--work-tree", "--namespace") and rest:
            rest.pop(0)
    if not rest:
        return ""
    verb, arguments = rest[0], rest[1:]
    check = _GIT.get(verb)
    by_helper = any("::" in word for word in arguments)  # git starts the program that ext:: names
    if by_helper or verb in _GIT_ALWAYS or (check is not None and check(arguments)):
        return "it can lose work, or run commands, in git"
    return ""


def _makes_a_branch(words: Sequence[str]) -> bool:
    """Return whether the arguments of checkout are ``-b NAME``: of files with a name alone, it discards the changes."""
    return len(words) == 2 and words[0] == "-b" and not words[1].startswith("-")


_GIT_ALWAYS = _names(
    "clean config filter-branch filter-repo gc prune update-ref reflog bisect difftool mergetool replace"
    " send-email instaweb daemon credential"
)
_GIT: dict[str, Callable[[Sequence[str]], bool]] = {
    "push": lambda words: (
        _short(words, "fd")
        or _long(words, "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "--prune")
        or any(word.startswith(("+", ":")) for word in words)
    ),
    "reset": lambda words: _long(words, "--hard", "--merge", "--keep"),
    "checkout": lambda words: not _makes_a_branch(words),
    "switch": lambda words: _short(words, "fC") or _long(words, "--force", "--discard-changes", "--force-create"),
    "restore": lambda words: not _long(words, "--staged") or _long(words, "--worktree"),
    "branch": lambda words: _short(words, "dDMCf") or _long(words, "--delete", "--force"),
    "tag": lambda words: _short(words, "df") or _long(words, "--delete", "--force"),
    "stash": lambda words: "drop" in words or "clear" in words,
    "rebase": lambda words: _short(words, "xi") or _long(words, "--exec", "--interactive"),
    "submodule": lambda words: "foreach" in words or "deinit" in words,
    "worktree": lambda words: "remove" in words or "prune" in words,
    "remote": lambda words: "remove" in words or "rm" in words or "set-url" in words or "add" in words,
    "clone": lambda words: _short(words, "uc") or _long(words, "--config"),
    "grep": lambda words: _short(words, "O"),
    "rm": lambda words: _short(words, "rf") or _long(words, "--force"),
}
_CHECKS: dict[str, Callable[[Sequence[str]], str]] = {
    "rm": _recursive, "chmod": _recursive, "chown": _recursive, "chgrp": _recursive,
    "find": _find, "fd": _fd, "fdfind": _fd, "kill": _kill, "cd": _cd, "git": _git,
    "sed": _sed, "gsed": _sed, "awk": _awk, "gawk": _awk, "mawk": _awk, "nawk": _awk,
    "tar": _archive, "rsync": _archive, "zip": _archive,
}  # fmt: skip
