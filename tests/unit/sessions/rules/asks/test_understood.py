"""The commands that are understood: tried against the programs' own option lists, and by running what is allowed."""

import os
import random
import shlex
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workplace import PROGRAM_OPTIONS, SECRET, Workplace

from agentdash.sessions.rules.asks import git_forms, reader_forms
from agentdash.sessions.rules.asks.dangerous import not_understood

BASH = {"decide": "allow", "tool": "Bash"}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    return Workplace(tmp_path_factory.mktemp("work").resolve())


@pytest.fixture
def fresh(tmp_path):
    return Workplace(tmp_path.resolve())


def form_of(name):
    of_git = {**git_forms.ACTING, **git_forms.READING}
    return of_git.get(name.removeprefix("git ")) if name.startswith("git ") else reader_forms.FORMS.get(name)


EVADING = [
    "git log -1 --format=%B --output=Makefile", "git log -1 --output .claude/settings.json", "git log --outp=x",
    "git grep '--open-files=touch p;' hello", "git grep -Otouch hello", "git grep --open-files-in-pager hello",
    "git ls-remote '--upload-p=touch p;git-upload-pack' bare", "git push '--receive-p=touch p' bare main",
    "git log --show-signature", "git log '--format=%G?'", "git log '--pretty=%+GS'", "git diff --ext-diff",
    "git log -p --textconv", "git log -p --ext-d", "git diff --no-index a.py b.txt", "git diff -Oorder",
    "git blame --contents=/etc/passwd a.py", "git blame --ignore-revs-file=b.txt a.py", "git grep --no-index x",
    "git grep -f b.txt", "git -c core.pager=x log", "git --exec-path=. log", "git --git-dir=bare log", "git -p log",
    "git --paginate log", "git --work-tree=/ status", "git -C bare status", "git -C bare log", "git -C door log",
    "git -C .. status", "git branch new", "git tag new", "git tag -v x", "git branch -l x", "git remote add a b",
    "git stash", "git stash pop", "git worktree add x", "git config -l", "git shortlog --output=x", "git p",
    "git rev-list --output=x HEAD", "git describe --dirty", "git help log", "git log --help", "git reflog expire",
    "tar '--checkpoint-actio=exec=touch p' -cf /dev/null a.py", "python3 '-cimport os'",
    "split '--filter=touch p' b.txt",
    "cat /etc/shadow", "grep -r BEGIN /root/.ssh", "cat link", "cat door/secret.txt",
    "cat src/../../outside/secret.txt",
    "cat ./door/../outside/secret.txt", "ls door", "head -c9 link", "grep -R x .", "grep -r x door",
    "grep -f link a.py",
    "grep --file=link a.py", "grep --dereference-rec x .", "grep --exclude-from=link x .", "find . -delete",
    "find . -exec cat {} +", "find -L . -name x", "find door", "find . -fprintf x y", "find . -newer link",
    "find . -files0-from x", "sort -o a.py b.txt", "sort --outp=a.py b.txt", "sort -oa.py b.txt", "sort -no a.py b.txt",
    "sort --compress-program=./x a.py", "sort --files0-from=link", "sort -T .. a.py", "uniq a.py b.txt",
    "wc --files0-from=link",
    "tree -o x", "tree -Io x y", "tree -R -L 1 -H x", "tree -l", "xxd -r a b", "date -s 2020-01-01", "date 01010000",
    "date -f link",
    "file -C -m x", "file -f link", "file -m link a.py", "less a.py", "man ls", "diff --to-file=link a.py",
    "diff . door",
    "diff -r . src", "diff src src", "diff a.py link", "diff -X link a.py b.txt", "sed -n '1w x' a.py",
    "sed -n 1p link", "sed -i 1p a.py",
    "sed -n -f link", "sed 1e a.py", "awk 1 a.py", "tee x", "env", "env git log", "printenv", "xargs cat", "du -L .",
    "du --files0-from=link", "ls -L", "ls --dereference", "stat -L link", "rg --pre ./x y", "rg --pre=./x y",
    "rg -z x", "rg -L x",
    "rg --follow x", "rg --hostname-bin ./x y", "rg --ignore-file link x", "rg -f link x", "rg x door",
    "rg --search-zip x",
    "md5sum -c link", "sha256sum --check link", "tail -f a.py", "tail --follow a.py", "tail --retry a.py", "jq -n env",
    "cd door && cat secret.txt", "cd .. && cat outside/secret.txt", "cd src; cat ../../outside/secret.txt",
    "ls && cd bare && git status", "cd bare && git status", "false && cd src; cat a.py", "cd src | cat",
    "cd src || ls", "cd", "cd -",
    "cd gone && true; cat ../outside/secret.txt", "cd gone && true || cat ../outside/secret.txt",
    "cd gone && true\ncat ../outside/secret.txt", "cd src/gone && ls | cat; cat ../../outside/secret.txt",
    "grep --context 5 /etc/passwd a.py", "git shortlog --group=format:%GS HEAD", "git branch --list --sort=signature",
    "git tag -l --sort -signature:signer",
    "./git log", "src/ls", "GIT log", "/tmp/git log", "bin/git log", "hostname x", "printf %n PATH", "id root",
    "which -x",
    "git log :/x", "git show ':(top)x'", "git diff -- ':!a.py'", "git diff -- ../outside",
    "git diff door/secret.txt a.py",
    "git log -- door/secret.txt", "cat ''", "ls --colo=auto", "ls --col", "git log --onelin", "git log --max-coun=1",
    "git log -n", "git log -ab", "git show --stat-", "grep -e --include x", "git status --porc", "cat -", "cat -- -n",
]  # fmt: skip
READING = ["cat -", "cat -- -n"]
PLAIN = [
    "git log", "git log -5 --oneline", "git log -p -- a.py", "git log -n 2 --stat", "git log -S line --pickaxe-regex",
    "git log --since=1.week --author me", "git log --format=%h", "git log '--format=%h %s' main", "git show HEAD",
    "git show HEAD:a.py", "git diff", "git diff 'HEAD~1' HEAD -- src", "git diff --cached --name-only",
    "git status -sb",
    "git status --porcelain=v2", "git grep -n line", "git grep -e line -- src", "git blame -L 1,2 a.py",
    "git branch -avv",
    "git branch --list main", "git branch --contains HEAD", "git tag -l v1", "git rev-parse --show-toplevel",
    "git remote -v",
    "git ls-files -mo --exclude-standard", "git cat-file -p HEAD", "git shortlog -sn HEAD", "git stash list",
    "git merge-base HEAD main",
    "git --no-pager log", "git -C src log", "git log 'HEAD~1..HEAD'", "git log main...HEAD", "git worktree list",
    "git --version",
    "ls", "ls -la src", "ls -- src", "cat a.py b.txt", "cat 'two words'", "head -3 a.py", "head -n 3 a.py",
    "tail -n5 a.py", "wc -l a.py",
    "grep -rn line src", "grep -A3 -e line a.py", "grep --include=x -r line .", "grep -f b.txt a.py",
    "sort -k2 -t, a.py", "sort -nr a.py", "uniq -c a.py",
    "cut -d , -f1 a.py", "diff -u a.py b.txt", "find . -name x -type f", "find src -maxdepth 1", "find . -mtime -1",
    "stat a.py",
    "sed -n 1,2p a.py", "date +%s", "date", "du -sh src", "echo hello", "pwd", "which git", "git log | head -5",
    "cd src && ls",
    "cd src; cat c.py", "git log 2>/dev/null", "cat a.py | sort | uniq -c", "ls src && git status",
    "/usr/bin/git log", "bash -lc 'git log'",
]  # fmt: skip


def test_a_form_that_writes_runs_or_reads_elsewhere_is_asked(workplace):
    for line in [line for line in EVADING if line not in READING]:
        words = line.split()
        named = ({"decide": "allow", "command": words[:1]}, {"decide": "allow", "command": words[:2]})
        for rule in (BASH, *(named if words[0] not in ("tee", "printf") else ())):  # those are what their user names
            assert workplace.decided(line, rule) == "ask", line


def test_a_plain_form_that_reads_the_folder_is_allowed(workplace):
    for line in [*PLAIN, *READING]:
        assert workplace.decided(line, BASH) == "allow", line
        words = line.split()
        if not set("|&;'>") & set(line):
            assert workplace.decided(line, {"decide": "allow", "command": words[:1]}) == "allow", line


def spellings(option):
    """Return ways to write an option of a program's own list, with a value and without."""
    name, value = option.rstrip("=?"), "x"
    yield (name,)
    yield (name, value)
    yield (f"{name}={value}",)
    if not name.startswith("--"):
        yield (f"{name}{value}",)


UNKNOWN = [
    (program, option)
    for program, listed in PROGRAM_OPTIONS.items()
    for option in listed
    if (form := form_of(program)) is not None and option.rstrip("=?") not in form.options
]
SHORTENED = [
    (program, name[:length])
    for program, listed in PROGRAM_OPTIONS.items()
    if (form := form_of(program)) is not None
    for name in (option.rstrip("=?") for option in listed)
    if name.startswith("--")
    for length in range(3, len(name))
    if name[:length] not in form.options
]


def test_no_other_option_of_a_program_is_understood(workplace):
    for program, option in UNKNOWN:
        for words in spellings(option):
            for line in (f"{program} {' '.join(words)} a.py", f"{program} a.py {' '.join(words)}"):
                assert not_understood(line, str(workplace.folder), str(workplace.folder)), line


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(SHORTENED), st.sampled_from(["", "=x", " x"]), st.booleans())
def test_no_shortened_option_is_understood(workplace, shortened, value, first):
    program, name = shortened
    line = f"{program} {name}{value} a.py" if first else f"{program} a.py {name}{value}"
    assert not_understood(line, str(workplace.folder), str(workplace.folder)), line
    assert workplace.decided(line, BASH, {"decide": "allow", "command": program}) == "ask"


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([one for one in UNKNOWN if len(one[1].rstrip("=?")) == 2]), st.data())
def test_no_other_short_option_is_understood_in_a_group(workplace, unknown, data):
    program, option = unknown
    flags = [name[1] for name, one in form_of(program).options.items() if len(name) == 2 and one.takes == "nothing"]
    known = data.draw(st.lists(st.sampled_from(flags or ["x"]), max_size=3)) if flags else []
    letters = "".join(known) + option[1]
    assert not_understood(f"{program} -{letters} a.py", str(workplace.folder), str(workplace.folder))


TEXTS = [
    "x", "line", "1", "2", "/etc/passwd", "../outside/secret.txt", "link", "door", "%h", "%G?", "always", "a.py",
    "touch ran;",
]  # fmt: skip
OPERANDS = [
    "a.py", "b.txt", "src", ".", "link", "door", "door/secret.txt", "../outside/secret.txt", "..", "bare",
    "src/../door",
    "HEAD", "HEAD~1", "HEAD:a.py", "main", ":/", "line", "-", "--", "two words", "{outside}/secret.txt",
    "{folder}/a.py", "HEAD..main",
]  # fmt: skip


class Dice:
    """Makes command lines of the programs, most of them understood."""

    def __init__(self, seed, workplace):
        self._random = random.Random(seed)
        self._places = {"outside": workplace.outside, "folder": workplace.folder}
        forms = {f"git {verb}": form for verb, form in git_forms.READING.items()} | dict(reader_forms.FORMS)
        self._forms = {name: form for name, form in forms.items() if shutil.which(name.split()[0])}

    def line(self):
        chosen = self._random
        name = chosen.choice([*self._forms, *[one for one in self._forms if one.startswith("git ")]])
        form = self._forms[name]
        words = [
            word
            for option in chosen.sample(sorted(form.options), k=min(len(form.options), chosen.randint(0, 2)))
            for word in self._spelled(option, form.options[option])
        ]
        if chosen.random() < 0.15 and name in PROGRAM_OPTIONS:
            words.append(chosen.choice(PROGRAM_OPTIONS[name]).rstrip("=?"))
        words += [chosen.choice(OPERANDS).format(**self._places) for _ in range(chosen.randint(0, 2))]
        chosen.shuffle(words) if chosen.random() < 0.2 else None
        return f"{name} {shlex.join(words)}"

    def _spelled(self, name, option):
        value = self._random.choice(["1", "2"] if option.kind == "N" else TEXTS)
        if option.takes == "nothing" or (option.takes == "maybe" and self._random.random() < 0.5):
            return [name.replace("#", "3")]
        joint = "=" if name.startswith("--") else ""
        apart = option.takes in ("value", "next") and self._random.random() < 0.5
        return [name, value] if apart else [f"{name}{joint}{value}"]


@pytest.mark.parametrize("seed", range(4))
def test_what_is_allowed_neither_writes_nor_runs_nor_reads_elsewhere(fresh, seed):
    """The promise itself, and not the reader of the options: allowed lines are run."""
    dice, ran = Dice(f"{os.environ.get('TORTURE_SEED', '')}{seed}", fresh), 0
    while ran < 60:
        line = dice.line()
        if fresh.decided(line, BASH) != "allow":
            continue
        output, changed = fresh.run(line)
        assert SECRET not in output, line
        assert changed == set(), line
        ran += 1


SETTINGS_THAT_RUN = [
    "[core]\n\tfsmonitor = touch ran", "[core]\n\tpager = x", "[diff]\n\texternal = x", '[diff "x"]\n\ttextconv = x',
    '[filter "x"]\n\tclean = x', "[alias]\n\tl = !x", "[core]\n\thooksPath = hooks", "[gpg]\n\tprogram = x",
    "[include]\n\tpath = x",
    '[includeIf "x"]\n\tpath = x', "[core]\n\tsshCommand = x", "[core]\n\teditor = x", '[remote "o"]\n\tuploadpack = x',
    '[remote "o"]\n\tpromisor = true', "[extensions]\n\tpartialClone = o", "[core]\n\tworktree = ../..",
    "[log]\n\tshowSignature = true",
    "[core] fsmonitor = x", "[CORE]\n\tFSMONITOR = x", "[core]\n\tabbrev = 7 \\\n\tfsmonitor = x",
    "[core]\n\tattributesFile = x",
    '[branch "m"]\n\tremote = ext::x', "[credential]\n\thelper = x", "[submodule]\n\trecurse = true", "x",
]  # fmt: skip


def test_a_repository_whose_settings_may_run_something_is_asked(fresh):
    config = fresh.folder / ".git" / "config"
    usual = config.read_text()
    for stated in SETTINGS_THAT_RUN:
        for text, decided in ((f"{usual}\n{stated}\n", "ask"), (usual, "allow")):
            config.write_text(text)
            for line in ("git log", "git status", "git diff", "git -C src show"):
                assert fresh.decided(line, BASH) == decided, (stated, line)


def test_usual_settings_of_a_repository_change_nothing(fresh):
    for key, value in {"remote.origin.url": "https://example.org/x.git", "branch.main.remote": "origin",
                       "branch.feature/x.merge": "refs/heads/main", "core.hooksPath": ".husky/_"}.items():  # fmt: skip
        fresh.git("config", key, value)
    assert fresh.decided("git status", BASH) == "allow"


PUSH = {"decide": "allow", "command": "git push"}
PUSHED_TO = [
    '[branch "main"]\n\tremote = evil.git', '[branch "main"]\n\tpushRemote = ./evil.git',
    '[branch "main"]\n\tremote = evil', '[branch "main"]\n\tpushRemote = ext::x',
    '[remote "origin"]\n\tpushurl = evil.git',
]  # fmt: skip


def test_a_push_to_a_folder_whose_hooks_would_run_is_asked(fresh):
    fresh.git("init", "-q", "--bare", "evil.git")
    config = fresh.folder / ".git" / "config"
    usual = config.read_text()
    for stated in PUSHED_TO:
        for text, decided in ((usual, "allow"), (f"{usual}\n{stated}\n", "ask")):
            config.write_text(text)
            assert fresh.decided("git push", PUSH) == decided, stated


def test_a_remote_that_only_an_old_file_or_a_folder_at_the_top_names_is_asked(fresh):
    fresh.git("init", "-q", "--bare", "evil.git")
    lines = ("git push up", "git -C src push evil", "git push other main")
    assert [fresh.decided(line, {"decide": "allow", "command": "git"}) for line in lines] == ["allow", "ask", "allow"]
    (fresh.folder / ".git" / "remotes").mkdir()
    (fresh.folder / ".git" / "remotes" / "up").write_text("URL: evil.git\n")
    assert fresh.decided("git push up", PUSH) == "ask"


def test_a_worktree_is_a_plain_repository_and_one_above_the_folder_is_asked(fresh):
    fresh.git("worktree", "add", "-q", "other")
    assert fresh.decided("git -C other log", BASH) == "allow"
    rule = {"decide": "allow", "tool": "Bash", "folder": "src"}
    assert fresh.decided("git log", rule, cwd=fresh.folder / "src") == "ask"


def test_a_repository_elsewhere_is_asked_unless_it_names_the_folder(fresh):
    elsewhere = fresh.folder.parent / "elsewhere"
    fresh.git("worktree", "add", "-q", str(elsewhere))
    assert fresh.decided("git log", {**BASH, "folder": str(elsewhere)}, cwd=elsewhere) == "allow"
    shutil.copytree(fresh.folder / ".git", fresh.folder.parent / "private.git")
    (fresh.folder / "src" / ".git").write_text(f"gitdir: {fresh.folder.parent}/private.git\n")
    assert fresh.decided("git -C src show HEAD", BASH) == "ask"
    assert fresh.decided("git show HEAD", BASH) == "allow"
    (fresh.folder / ".git" / "objects" / "info" / "alternates").write_text(
        f"{fresh.folder.parent}/private.git/objects\n"
    )
    assert fresh.decided("git show HEAD", BASH) == "ask"


def test_an_empty_git_folder_is_no_repository_and_another_may_become_one(fresh):
    (fresh.folder / "src" / ".git").mkdir()
    assert fresh.decided("git -C src log", BASH) == "allow"
    (fresh.folder / "src" / ".git" / "config").write_text("")
    assert fresh.decided("git -C src log", BASH) == "ask"


def test_links_in_the_place_of_folders_and_submodules_are_asked(fresh):
    assert fresh.decided("git grep line", BASH) == "allow"
    shutil.rmtree(fresh.folder / "src")
    (fresh.folder / "src").symlink_to("../outside")
    assert [fresh.decided(line, BASH) for line in ("git grep secret", "git log")] == ["ask", "allow"]
    (fresh.folder / "src").unlink()
    fresh.git("update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,sub")
    assert [fresh.decided(line, BASH) for line in ("git status", "git log")] == ["ask", "allow"]


def test_a_hook_of_reading_verbs_is_asked(fresh):
    (fresh.folder / ".git" / "hooks" / "post-index-change").write_text("#!/bin/sh\ntouch ran\n")
    assert [fresh.decided(line, BASH) for line in ("git status", "git log")] == ["ask", "allow"]


@pytest.mark.parametrize("name", ["x" * 300, "x" * 9000, pytest.param("x/" * 2000, marks=pytest.mark.slow)])
def test_a_path_of_any_length_is_judged(workplace, name):
    for line in (
        f"cat {name}",
        f"git -C {name} log",
        f"cd {name} && ls",
        f"./{name} x",
        f"diff {name} a.py",
        f"cp {name} y",
    ):
        for rule in (BASH, {"decide": "allow", "command": line.split()[:1]}):
            assert workplace.decided(line, rule) in ("ask", "allow")


def test_a_link_is_followed_when_the_ask_comes(fresh):
    assert fresh.decided("cat src/c.py", BASH) == "allow"
    (fresh.folder / "src" / "c.py").unlink()
    (fresh.folder / "src" / "c.py").symlink_to(fresh.outside / "secret.txt")
    assert fresh.decided("cat src/c.py", BASH) == "ask"
