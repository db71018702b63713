"""The programs other than git whose read-only forms are understood, as data.

Their options are those that GNU and BSD programs read alike, and that neither write, run, wait, nor open a file that
they do not name.  An option that follows links while it walks through folders is not here, and no program whose result
has the environment.  Seen in GNU coreutils 9.1, grep 3.8, findutils 4.9, diffutils 3.8, ripgrep 14.1 and file 5.44.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from agentdash.sessions.rules.asks.command_forms import Form, Read, form_of, read
from agentdash.sessions.rules.asks.places import Place

_DIGESTS = form_of("-b -t -z --tag --binary --text --zero", "files")
_NAMES = form_of("-a -z -s=T --multiple --suffix=T --zero", "texts")
_ENDS = form_of("-# -n=N -c=N -q -v --lines=N --bytes=N --quiet --silent --verbose", "files")
_CONTEXT = "-A=N -B=N -C=N --after-context=N --before-context=N --context?N"  # BSD grep: --context or --context=N
_BY_PATTERN = frozenset({"-e", "--regexp", "-f", "--file"})

FORMS: Mapping[str, Form] = {
    "ls": form_of(
        "-a -A -l -h -1 -R -r -t -S -F -d -i -s -p -n -g -o -c -u -x -C -m -k -q --all --almost-all --color?T"
        " --recursive --reverse --sort=T --time=T --time-style=T --human-readable --size --directory --inode"
        " --classify?T --group-directories-first --full-time --file-type --si --numeric-uid-gid",
        "paths",
    ),
    "cat": form_of(
        "-n -b -s -E -T -A -v -e -t -u --number --number-nonblank --squeeze-blank --show-ends --show-tabs"
        " --show-all --show-nonprinting",
        "files",
    ),
    "head": _ENDS,
    "tail": _ENDS,
    "wc": form_of("-l -w -c -m -L --lines --words --bytes --chars --max-line-length", "files"),
    "nl": form_of("-b=T -n=T -w=N -s=T -v=N -i=N", "files"),
    "tac": form_of(operands="files"),
    "grep": form_of(
        f"-r -i -n -l -L -c -o -w -x -v -E -F -G -P -H -h -s -q -a -I -b -T -e=T -f=P -m=N -# {_CONTEXT}"
        " --include=T --exclude=T --exclude-dir=T --color?T --colour?T --recursive --ignore-case"
        " --no-ignore-case --line-number --count --files-with-matches --files-without-match --only-matching"
        " --word-regexp --line-regexp --invert-match --extended-regexp --fixed-strings --basic-regexp --perl-regexp"
        " --with-filename --no-filename --no-messages --quiet --silent --text --max-count=N --regexp=T --file=P"
        " --null --byte-offset",
        "pattern",
        patterns=_BY_PATTERN,
    ),
    "rg": form_of(
        f"-i -S -s -n -N -l -c -o -w -x -v -F -P -U -H -I -q -a -u -. -0 -p -e=T -f=P -m=N -g=T -t=T -T=T -M=N -r=T"
        f" {_CONTEXT} --hidden --no-ignore --files --files-with-matches --files-without-match --count --glob=T"
        " --iglob=T --type=T --type-not=T --type-list --json --stats --color=T --heading --no-heading --sort=T"
        " --max-depth=N --max-count=N --ignore-case --smart-case --case-sensitive --line-number --no-line-number"
        " --only-matching --fixed-strings --word-regexp --invert-match --multiline --multiline-dotall --regexp=T"
        " --file=P --with-filename --no-filename --replace=T --column --trim --passthru --vimgrep --no-messages"
        " --max-columns=N --null --pcre2 --quiet --text --crlf",
        "pattern",
        patterns=_BY_PATTERN | {"--files", "--type-list"},
    ),
    "stat": form_of("-c=T -t --format=T --printf=T --terse", "paths"),
    "file": form_of("-b -i --brief --mime --mime-type --mime-encoding", "paths"),
    "sort": form_of(
        "-n -r -u -f -b -h -V -g -M -d -i -s -z -c -C -m -k=T -t=T --numeric-sort --reverse --unique --key=T"
        " --field-separator=T --ignore-case --ignore-leading-blanks --human-numeric-sort --version-sort"
        " --general-numeric-sort --dictionary-order --stable --check?T --merge --zero-terminated",
        "files",
    ),
    "uniq": form_of(
        "-c -d -u -i -f=N -s=N -w=N --count --repeated --unique --ignore-case --skip-fields=N --skip-chars=N",
        "files",
        most=1,  # the second is written
    ),
    "cut": form_of(
        "-d=T -f=T -c=T -b=T -s --delimiter=T --fields=T --characters=T --bytes=T --only-delimited --complement"
        " --output-delimiter=T",
        "files",
    ),
    "tr": form_of("-d -s -c -C -t --delete --squeeze-repeats --complement --truncate-set1", "texts"),
    "diff": form_of(  # of two folders, it follows the links in them
        "-# -u -U=N -c -C=N -q -s -w -b -B -i -y -E -Z -a -p -t -d -W=N --unified?N --context?N --brief"
        " --report-identical-files --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case"
        " --ignore-tab-expansion --ignore-trailing-space --text --side-by-side --width=N --suppress-common-lines"
        " --left-column --minimal --label=T --color?T --normal --expand-tabs --show-c-function",
        "files",
        most=2,
    ),
    "cmp": form_of("-s -l -b -n=N --silent --quiet --verbose --print-bytes", "files", most=2),
    "comm": form_of("-1 -2 -3", "files", most=2),
    "du": form_of(
        "-s -h -a -c -d=N -k -m --max-depth=N --summarize --human-readable --all --total --apparent-size", "paths"
    ),
    "tree": form_of(  # each letter of a group takes the next word, in their order
        "-a -d -f -h -s -p -u -g -D -i -C -n -q -N -Q -F -r -t -J -X -L>N -I>T -P>T --dirsfirst --noreport --du"
        " --prune --gitignore",
        "paths",
        groups=False,
    ),
    "readlink": form_of("-f -e -m -n --canonicalize", "paths"),
    "realpath": form_of("-e -m -s", "paths"),
    "basename": _NAMES,
    "dirname": form_of("-z --zero", "texts"),
    "pwd": form_of("-L -P"),
    "echo": form_of("-n -e -E", "texts"),
    "true": Form(),
    "false": Form(),
    "which": form_of("-a", "texts"),
    "whoami": Form(),
    "id": form_of("-u -g -G -n -r"),
    "uname": form_of("-a -s -r -m -n -p -v -o --all"),
    "nproc": form_of("--all"),
    "md5sum": _DIGESTS,
    "sha1sum": _DIGESTS,
    "sha256sum": _DIGESTS,
    "sha512sum": _DIGESTS,
}

_FIND_FLAGS = frozenset(
    ("-empty", "-print", "-print0", "-prune", "-not", "-and", "-or", "-a", "-o", "!", "(", ")", "-depth", "-xdev")
)
_FIND_NUMBERS = frozenset(("-size", "-mtime", "-mmin", "-ctime", "-cmin", "-atime", "-amin", "-links", "-perm"))
_FIND_TEXTS = frozenset(
    ("-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-type", "-maxdepth", "-mindepth", "-user", "-group")
)
_LINES = re.compile(r"(?:[0-9]+(?:,(?:[0-9]+|\$))?|\$)p")


def _find(words: Sequence[str], place: Place) -> bool:
    """Read the folders, and then an expression that only chooses and prints."""
    begin = next((at for at, word in enumerate(words) if word[:1] in "-(!"), len(words))
    rest = iter(words[begin:])
    for word in rest:
        if word in _FIND_TEXTS or word in _FIND_NUMBERS:
            value = next(rest, None)
            if value is None or (value.startswith("-") and word in _FIND_TEXTS):
                return False
        elif word not in _FIND_FLAGS:
            return False
    return all(map(place.has, words[:begin]))


def _sed(words: Sequence[str], place: Place) -> bool:
    """Only printing lines by number is known to run and write nothing."""
    found = read(form_of(operands="texts"), words[1:])
    if list(words[:1]) != ["-n"] or found is None or not found.operands:
        return False
    return _LINES.fullmatch(found.operands[0]) is not None and all(map(place.has_file, found.operands[1:]))


def _date(words: Sequence[str], _: Place) -> bool:
    """The time is set by an operand without the sign of a format."""
    found = read(form_of("-u -R --utc", "texts", most=1), words)
    return found is not None and all(word.startswith("+") for word in found.operands)


CHECKS: Mapping[str, Callable[[Sequence[str], Place], bool]] = {"find": _find, "sed": _sed, "date": _date}
"""Programs whose arguments are a language of their own."""


def names_files(program: str) -> bool:
    """Return whether a program reads only the files that are among its arguments, and no folder."""
    form = FORMS.get(program)
    return program in ("sed", "date") or (form is not None and form.operands in ("files", "texts", "none"))


def is_reading(program: str, words: Sequence[str], place: Place) -> bool:
    """Return whether the arguments of a program are of a form that only reads files in the folder."""
    if (check := CHECKS.get(program)) is not None:
        return check(words, place)
    form = FORMS.get(program)
    found = read(form, words) if form is not None else None
    return form is not None and found is not None and reads_in(form, found, place)


def reads_in(form: Form, found: Read, place: Place) -> bool:
    """Return whether a command that was read by its form reads only files in the folder."""
    for name, value in found.options:
        if form.options[name].kind == "P" and not place.has_file(value):
            return False
    operands = list(found.operands)
    if form.operands.startswith("pattern") and not found.has(*form.patterns):
        del operands[:1]
    if form.operands == "texts":
        return True
    has = place.has_file if form.operands == "files" else place.has
    return all(word == "-" or has(word) for word in operands)
