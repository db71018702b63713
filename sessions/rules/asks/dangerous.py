"""The commands that are understood, as they only read files in a folder, and the acts that only the user can allow.

The list of programs that are understood is short, and everything else is left to the user: a program that is not in it,
an option that is not in its form, a shortened option, a path that leads out of the folder, a folder that git could take
for a repository with settings of its own.  Aliases and functions of the user's shell, the variables and the settings of
the user, and what another process changes between the check and the use are not known here.

No rule with a program's name, no lead and no ``always`` allows the acts of the user.  A command of a program of which
forms are understood is judged by its form.  Of another program, such as ``make``, agentdash cannot know what it does:
permission for its name covers all of it.  The programs that are listed here are left to the user, because their name
says nothing about what they do: they run what is among their arguments, end or overwrite things of the machine, or
reach another one.

Permission for the rest of a session is remembered by the agent itself, or by agentdash.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from agentdash.sessions.rules.asks import git_forms, reader_forms
from agentdash.sessions.rules.asks.command_forms import Form, form_of, read
from agentdash.sessions.rules.asks.model import MOST_BODY_BYTES, Ask, AskKind, Verdict
from agentdash.sessions.rules.asks.other_names import without_version
from agentdash.sessions.rules.asks.places import Place, is_folder, paths_in, place_at, real
from agentdash.sessions.rules.asks.protected import runs_something
from agentdash.sessions.rules.asks.simple_command import Simple, commands
from agentdash.sessions.text.sanitize import one_line

NO_LIST = "it is not a list of simple commands"
OUTSIDE = "it runs outside the folder"
LEAVES = "it changes to an unknown folder"
NOT_READING = "it is not known only to read files of the folder"

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_SYSTEM = ("/bin", "/usr/bin", "/usr/local/bin")


def not_understood(line: str, folder: str, cwd: str) -> str:
    """Return the reason why a line is not known only to read files of a folder, as a clause; empty if it is.

    Args:
        line: the line, as the agent would give it to a shell.
        folder: the folder; an absolute path.
        cwd: the folder in which it would run; an absolute path.
    """
    return _judged(line, folder, cwd, lambda words, place: "" if is_reading(words, place) else NOT_READING)


def _judged(line: str, folder: str, cwd: str, judge: Callable[[Sequence[str], Place], str]) -> str:
    """Return what a judge finds of the first command that is not good; empty if all are."""
    place, found = place_at(folder, cwd), commands(line)
    if found is None or place is None:
        return NO_LIST if found is None else OUTSIDE
    placed = at_their_places(found, place)
    return next(filter(None, (LEAVES if there is None else judge(one.words, there) for one, there in placed)), "")


def at_their_places(found: Sequence[Simple], place: Place) -> Iterator[tuple[Simple, Place | None]]:
    """Yield each command with every place at which it may run; None, and no more, if they are not known.

    Only a ``cd`` before all others moves them; it is left out.  If it may fail, those behind ``;`` or ``||`` then run
    at the first place.
    """
    places = [place]
    for number, one in enumerate(found):
        if one.words[0] != "cd":
            yield from ((one, there) for there in places)
            continue
        moved = _moved(one.words[1:], place, then=found[1].after) if number == 0 and len(found) > 1 else None
        if moved is None:
            yield one, None
            return
        all_or_none = {later.after for later in found[1:]} <= {"&&", "|"}
        places = [moved] if all_or_none or _can_enter(moved.cwd) else [place, moved]


def _moved(words: Sequence[str], place: Place, *, then: str) -> Place | None:
    """Return the place to which ``cd`` moves the commands behind the operator ``then``; None if that is not certain."""
    if then not in ("&&", ";", "\n") or len(words) != 1 or not words[0] or words[0].startswith("-"):
        return None
    if os.environ.get("CDPATH") and words[0][0] not in "./":
        return None
    moved = place.below(words[0])
    return moved if moved is not None and (then == "&&" or _can_enter(moved.cwd)) else None


def _can_enter(folder: str) -> bool:
    return is_folder(folder) and os.access(folder, os.X_OK)


def is_reading(words: Sequence[str], place: Place) -> bool:
    """Return whether a command only reads files of the folder."""
    name = known_name(words[0])
    return bool(name) and _is_understood(name, words[1:], place, acts=False)


def known_name(program: str) -> str:
    """Return the name of a program of the system in ``PATH``, or in one of the usual folders; empty for another."""
    folder, slash, name = program.rpartition("/")
    return name if _NAME.fullmatch(name) and (not slash or folder in _SYSTEM) else ""


def has_forms(name: str) -> bool:
    """Return whether a program is one of those of which forms are understood."""
    return name == "git" or name in reader_forms.FORMS or name in reader_forms.CHECKS


OUTSIDE_PATH = "it names a path outside the folder"
PROTECTED = "it writes a file by which other programs run something"
UNPLACED = "the folder in which it would act is not known"
NOT_A_FORM = "it is not of a form that is understood"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALWAYS = {
    "it runs with other rights": "sudo doas su pkexec run0 chroot nsenter unshare setpriv runuser newgrp sg",
    "it formats or overwrites a disk": "mkfs mke2fs mkswap dd shred wipefs fdisk sfdisk parted mount umount losetup",
    "it ends processes or the machine": "shutdown reboot halt poweroff init telinit systemctl service kill killall"
    " pkill",
    "it runs other commands": (
        "sh bash dash zsh ksh mksh fish csh tcsh pwsh ash busybox toybox eval exec source . command builtin noglob"
        " nocorrect xargs parallel watch script expect entr flock strace ltrace gdb lldb tmux screen at batch crontab"
        " coproc pushd popd env ionice setsid stdbuf chrt taskset setarch unbuffer ex vi vim"
        " nvim view ed emacs nano less more most man info pager awk gawk mawk nawk m4 tclsh osascript deno bun fd"
        " fdfind split csplit tar bsdtar cpio rsync zip unzip ar 7z patch install run-parts ld gcc cc clang jq yq"
        " fzf openssl gpg npx pnpx bunx uvx pipx dlx hub gh sqlite3 psql mysql mariadb mongosh valgrind perf ffmpeg"
        " open xdg-open start code subl emacsclient ansible ansible-playbook vagrant terraform tofu systemd-run"
        " nix-shell"
    ),
    "it reaches another machine": (
        "ssh scp sftp curl wget nc ncat netcat socat telnet ftp lftp rclone rsh rlogin mosh sshpass docker podman"
        " nerdctl kubectl helm aws gcloud redis-cli"
    ),
    "it changes what later commands mean": (
        "cd export declare typeset local readonly set unset alias unalias hash enable shopt setopt trap umask ulimit"
        " read mapfile"
    ),
    "it changes permissions": "chmod chown chgrp chattr setfacl setfattr xattr ln link mknod mkfifo",
    "it deletes or overwrites files": "unlink truncate trash xxd",
    "it shows or changes settings of the machine": (
        "printenv hostname sysctl defaults launchctl loginctl security chsh passwd useradd usermod visudo iptables"
    ),
    "it installs programs for the machine": "apt apt-get dnf yum pacman apk zypper brew port snap flatpak nix-env",
}
_REASON = {name: reason for reason, names in _ALWAYS.items() for name in _names(names)}
_INTERPRETERS = _names("python pythonw pypy perl ruby node nodejs php lua luajit rscript julia")
_MODULES = _names(
    "timeit pdb bdb code asyncio idlelib runpy trace profile cProfile pip ensurepip pydoc http webbrowser"
)
"""Modules of python that run code among their arguments or from elsewhere."""

_WRAPPERS: Mapping[str, re.Pattern[str]] = {
    "timeout": re.compile(r"[0-9.]+[smhd]? "),
    "nice": re.compile(r"(?:-n [0-9]+ )?"),
    "nohup": re.compile(""),
    "time": re.compile(""),
}
"""Programs that run the command among their arguments without a change, and what is before it."""

_FILES: Mapping[str, Form] = {
    "mkdir": form_of("-p -v --parents --verbose", "paths"),
    "touch": form_of("-a -c -m", "paths"),
    "rm": form_of("-f -v --force --verbose", "paths"),
    "rmdir": form_of("-v --verbose", "paths"),
    "cp": form_of("-p -v -n -f --verbose --no-clobber --force", "paths"),
    "mv": form_of("-v -n -f --verbose --no-clobber --force", "paths"),
    "tee": form_of("-a --append", "paths"),
}
"""Programs that change the files that they name, and nothing else."""


MOST_SHOWN = 2_000
"""Characters of a command; a lead is shown no longer one."""


def danger(line: str, folder: str, cwd: str) -> str:
    """Return the reason why only the user can allow a line of commands, as a clause; empty if there is none.

    Args:
        line: the line, as the agent would give it to a shell.
        folder: the folder in which it may act; an absolute path.
        cwd: the folder in which it would run; an absolute path.
    """
    return _judged(line, folder, cwd, _of_words)


def unplaced(ask: Ask) -> str:
    """Return the reason why the files of an ask are not known, as a clause; empty if they are, or do not matter.

    What a program does that the user named, such as ``make``, is the user's choice in every folder.
    """
    if not ask.unplaced:
        return ""
    if ask.kind is not AskKind.COMMAND:
        return "" if all(path.startswith("/") for path in ask.paths) else UNPLACED
    return UNPLACED if any(_is_judged_by_files(one.words[0]) for one in commands(ask.body) or ()) else ""


def _is_judged_by_files(program: str) -> bool:
    name = _plain_name(program)
    return has_forms(name) or name in _FILES or name in _WRAPPERS or name == "cd"


def only_the_user(ask: Ask, folder: str) -> str:
    """Return the reason why only the user can allow an ask, as a clause; empty if a lead can.

    Args:
        folder: the folder of its session, an absolute path.
    """
    if ask.each_time or ask.kind is AskKind.PERMISSIONS:
        return "the agent requires the user each time" if ask.each_time else "it asks for wider permissions"
    if reason := unplaced(ask):
        return reason
    if ask.kind is AskKind.COMMAND:
        too_long = len(ask.body) > MOST_SHOWN
        return "it is too long for its lead" if too_long else danger(ask.body, folder, ask.cwd or folder)
    if ask.kind in (AskKind.EDIT, AskKind.TOOL):
        return of_files(ask, folder, folder)
    return _of_questions(ask) if ask.kind in (AskKind.QUESTION, AskKind.FORM) else ""


def _of_questions(ask: Ask) -> str:
    if any(question.secret for question in ask.questions):
        return "its answer is secret"
    return "" if len(ask.questions) == 1 else f"it has {len(ask.questions)} questions, which need a form"


def of_files(ask: Ask, folder: str, cwd: str) -> str:
    """Return the reason why only the user can allow an edit, or a tool that reads files, as a clause; empty if none.

    Args:
        folder: the folder in which the files must be; an absolute path.
        cwd: the folder in which the session works, if the ask names none; an absolute path.
    """
    writes = ask.kind is AskKind.EDIT
    if writes and not ask.paths:
        return "its files are not known"
    place = Place(real(folder, "/"), real(ask.cwd or cwd, "/"))
    if not all(map(place.has, ask.paths)):
        return "it writes outside the folder" if writes else "it reads outside the folder"
    return PROTECTED if writes and _any_runs(ask.paths, place) else ""


def _any_runs(paths: Iterable[str], place: Place, *, hidden: bool = False) -> bool:
    return any(runs_something(path, place.folder, place.cwd, hidden=hidden) for path in paths)


def _of_words(words: Sequence[str], place: Place) -> str:
    program, arguments = words[0], words[1:]
    name, known = _plain_name(program), known_name(program)
    if has_forms(name):
        understood = known == name and _is_understood(name, arguments, place, acts=True)
        return "" if understood else _REASON.get(name, NOT_A_FORM)
    if name in _FILES:
        return _of_files(name, arguments, place) if known == name else NOT_A_FORM
    if name in _WRAPPERS and known == name:
        found = _WRAPPERS[name].match(" ".join(arguments) + " ")
        rest = arguments[found.group().count(" ") :] if found is not None else ()
        return _of_words(rest, place) if rest and not rest[0].startswith("-") else _REASON["env"]
    if name in _REASON or name.startswith("mkfs."):
        return _REASON.get(name, _REASON["mkfs"])
    if name in _INTERPRETERS and not _runs_a_file(arguments):
        return "it runs code that is in no file"
    return _of_unknown(program, arguments, place)


def _plain_name(program: str) -> str:
    """Return the name of a program without folder, version, capitals and the letter that GNU programs have on a Mac."""
    name = program.rpartition("/")[2].casefold()
    short = without_version(name)
    known = (_REASON, _FILES, _INTERPRETERS)
    for one in (name, short, name[1:] if name.startswith("g") else name):
        if has_forms(one) or any(one in names for names in known):
            return one
    return name


def _is_understood(name: str, arguments: Sequence[str], place: Place, *, acts: bool) -> bool:
    if name == "git":
        return git_forms.is_understood(arguments, place, acts=acts)
    return reader_forms.is_reading(name, arguments, place)


def _of_files(name: str, arguments: Sequence[str], place: Place) -> str:
    found = read(_FILES[name], arguments)
    if found is None:
        return "it acts on whole folders" if name == "rm" else NOT_A_FORM
    paths = list(found.operands)
    if any(path.startswith("-") for path in paths):
        return NOT_A_FORM
    if name in ("cp", "mv") and paths:
        paths += [f"{paths[-1]}/{path.rstrip('/').rpartition('/')[2]}" for path in paths[:-1]]
    if not all(map(place.has, paths)):
        return OUTSIDE_PATH
    return PROTECTED if _any_runs(paths, place) else ""


def _runs_a_file(arguments: Sequence[str]) -> bool:
    """Return whether an interpreter runs a file that is named first, or a module by its name."""
    if not arguments:
        return False
    if arguments[0] == "-m":
        module = re.fullmatch(r"([A-Za-z_]\w*)(?:\.[\w.]*)?", arguments[1]) if len(arguments) > 1 else None
        return module is not None and module[1] not in _MODULES
    return not arguments[0].startswith("-")


def _of_unknown(program: str, arguments: Sequence[str], place: Place) -> str:
    # Some shells change to a folder of this name if there is no such program.
    changes = is_folder(Path(place.cwd, program)) and shutil.which(program) is None
    if changes or not (known_name(program) or _is_of_folder(program, place)):
        return "its program is not one of the system or of the folder"
    paths = [path for word in arguments for path in paths_in(word) if path != "/dev/null"]
    if not all(map(place.has, paths)):
        return OUTSIDE_PATH
    return PROTECTED if _any_runs(paths, place, hidden=True) else ""


def _is_of_folder(program: str, place: Place) -> bool:
    """Return whether a program is in the folder, or a link there to one of the same name, as in an environment."""
    found = real(program, place.cwd)
    if "/" not in program:
        return False
    in_folder = place.has(program.rpartition("/")[0] or "/")
    return place.has(program) or (in_folder and _plain_name(found) == _plain_name(program))


ALLOWABLE = (AskKind.COMMAND, AskKind.EDIT, AskKind.TOOL)
"""The kinds that agentdash can allow; plans, wider permissions and questions are the user's."""

REMEMBERED = "the same, for this session (agentdash remembers it)"


def own_scope(ask: Ask) -> str:
    """Return what the agent's own ``always`` covers, on one clean line; empty if it has none."""
    return one_line(ask.always) if Verdict.ALWAYS in ask.verdicts else ""


def can_remember(ask: Ask) -> bool:
    """Return whether agentdash can allow an ask because the user allowed the same before.

    What only the user can allow is the user's each time (:func:`danger`); it must stay in the folder of the ask.
    """
    if Verdict.ALLOW not in ask.verdicts or ask.kind not in ALLOWABLE or ask.each_time or not ask.body:
        return False
    if len(ask.body.encode("utf-8", "replace")) > MOST_BODY_BYTES:
        return False  # its row has only the beginning
    if unplaced(ask):
        return False
    folder = ask.cwd or "/"
    if ask.kind is AskKind.COMMAND:
        return not danger(ask.body, folder, folder)
    return not of_files(ask, folder, folder)


def scope(ask: Ask) -> str:
    """Return what permission for the rest of the session would cover; empty if the ask does not take it."""
    return own_scope(ask) or (REMEMBERED if can_remember(ask) else "")
