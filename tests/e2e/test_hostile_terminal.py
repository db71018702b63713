"""No verb lets a control sequence of an agent, a file or a typo through to a terminal.

All registered verbs are tried on a terminal of their own, over a world in which every text is hostile.  A new verb is
tried too: by its id argument, or it needs an entry in ``ARGUMENTS``.
"""

import contextlib
import json
import os
import re
import select
import subprocess
import sys
import time
import uuid
from pathlib import Path

import click
import pytest

from agentdash.sessions.rules.asks.model import Ask, AskKind, Choice, Question, Verdict
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.cli.main import cli

EVIL = "\x1b]0;PWNED\x07\x1b[38;5;213mred\x1b[2J \u202etxet\u2066\x9b31m\x7f"
"""A title, a foreign colour, a cleared screen, reordered text, a C1 control and DEL."""

NAME = "na\x1b[38;5;213mme\u202e"
"""The same for files and folders."""

OURS = re.compile(r"\x1b\[(?:0|1|2|3[1-6])(?:;[12])?m")
"""The colours in which the command line paints what it says."""

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]")

FULL_SCREEN = {"watch", "demo"}
"""Verbs that draw through Textual; here only what they say of a wrong argument is tried."""

DRIVER = """
import json, os, sys
from agentdash.tui.cli import main as cli
import agentdash.sessions.service.manager, agentdash.tui.render.sessions.table, agentdash.tui.render.steps
out, err = map(int, sys.argv[1:])
for line in sys.stdin:
    task = json.loads(line)
    pid = os.fork()
    if pid == 0:
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(task["env"])
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)
        code = cli.run(task["argv"])
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""
"""Runs one command line after the other on two terminals; the imports are paid once."""


class Terminals:
    """A terminal for stdout and one for stderr, and a process that runs verbs on them."""

    def __init__(self, environment):
        (self._out, out), (self._err, err) = os.openpty(), os.openpty()
        for descriptor in (out, err):
            subprocess.run(["stty", "raw", "-echo", "cols", "200"], stdin=descriptor, check=True)
        self._driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(out), str(err)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(out, err),
            env=environment,
            text=True,
            start_new_session=True,
        )
        os.close(out)
        os.close(err)

    def run(self, argv, seconds=60, **env):
        """The exit code of a verb, and what each terminal got."""
        self._driver.stdin.write(json.dumps({"argv": list(argv), "env": env}) + "\n")
        self._driver.stdin.flush()
        got = {self._out: b"", self._err: b""}
        deadline = time.monotonic() + seconds
        answer = self._driver.stdout.fileno()
        while True:
            ready, _, _ = select.select([*got, answer], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{argv} did not end"
            for descriptor in got.keys() & set(ready):
                got[descriptor] += os.read(descriptor, 1 << 16)
            if ready == [answer]:  # all that was written before has been read
                code = int(self._driver.stdout.readline())
                return code, got[self._out].decode(), got[self._err].decode()

    def close(self):
        self._driver.kill()
        self._driver.communicate()
        os.close(self._out)
        os.close(self._err)


def codex_script(folder):
    """A stand-in for codex whose every text is hostile."""
    item = {
        "agent_message": {"text": EVIL},
        "reasoning": {"text": EVIL},
        "command_execution": {
            "command": EVIL, "aggregated_output": f"{EVIL}\n{EVIL}", "exit_code": 1, "status": "failed",
        },
        "file_change": {"changes": [{"path": f"{NAME}/{EVIL}.py", "kind": "update"}], "status": "completed"},
        "mcp_tool_call": {
            "server": EVIL, "tool": EVIL, "arguments": {EVIL: EVIL}, "result": None, "error": {"message": EVIL},
            "status": "failed",
        },
        "web_search": {"query": EVIL},
        "todo_list": {"items": [{"text": EVIL, "completed": False}]},
        "error": {"message": EVIL},
        EVIL: {"text": EVIL},
    }  # fmt: skip
    items = [
        {"type": "item.completed", "item": {"id": f"i{n}", "type": kind, **rest}}
        for n, (kind, rest) in enumerate(item.items())
    ]
    events = [{"type": "thread.started", "thread_id": EVIL}, *items, {"type": EVIL, "x": EVIL}]
    end = {"type": "turn.failed", "error": {"message": EVIL}}
    stream = folder / "stream.jsonl"
    # Not as the JSON escapes of an encoder: as the raw characters that a parser takes too.
    stream.write_bytes(b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in [*events, end]))
    (folder / "noise").write_text(f"{EVIL}\n")
    script = folder / "codex"
    script.write_text(f'#!/bin/sh\ncat >/dev/null\ncat "{folder}/noise" >&2\ncat "{stream}"\nexit 1\n')
    script.chmod(0o755)
    return script


class World:
    """A state folder, settings and a project in which every name is hostile."""

    def __init__(self, folder):
        self.folder = folder
        self.project = folder / f"project {NAME}"
        self.project.mkdir()
        self.home = folder / f"state {NAME}"
        self.settings = folder / f"settings {NAME}.toml"
        self.codex = codex_script(folder)
        quoted = json.dumps(EVIL)
        self.settings.write_text(
            f"[agents.codex]\nlive = false\nbin = {json.dumps(str(self.codex))}\nargs = [{quoted}]\n"
            f"[presets.{quoted}]\nprompt = {quoted}\ntitle = {quoted}\n[profiles.{quoted}]\n".replace(
                f"title = {quoted}\n", ""
            )
        )
        self.manager = SessionManager(self.home, self.settings)
        self.agent = self._ended(self.manager.spawn(Start(EVIL, agent="codex", title=EVIL, cwd=str(self.project))))
        self.command = self.fresh()
        self.trashed = self.fresh()
        self.manager.delete(self.trashed)
        self.live = self.manager.started(
            self.manager.run(["sh", "-c", "sleep 600; :", EVIL.replace("\x00", "")], title=EVIL).id
        ).id

    def fresh(self):
        """A command that printed the worst and failed."""
        argv = ["sh", "-c", 'printf "%s\\n" "$0"; printf "%s\\n" "$0" >&2; exit 3', EVIL]
        return self._ended(self.manager.run(argv, title=EVIL, cwd=str(self.project)))

    def deleted(self):
        """A command that is in the trash."""
        session = self.fresh()
        self.manager.delete(session)
        return session

    def ask(self):
        """The number of a new ask of the live session; every text of it is hostile."""
        question = Question(key=EVIL, text=EVIL, header=EVIL, choices=(Choice(label=EVIL, description=EVIL),))
        ask = Ask(
            key=str(uuid.uuid4()), kind=AskKind.TOOL, tool=EVIL, title=EVIL, body=f"{EVIL}\n{EVIL}", cwd=f"/{EVIL}",
            paths=(EVIL,), why=EVIL, verdicts=tuple(Verdict), always=EVIL, questions=(question,),
        )  # fmt: skip
        return str(self.manager.store.asks.record(self.live, 1, 1, ask).id)

    def file(self, name, text):
        """A file with a hostile name."""
        path = self.folder / f"{NAME} {name}"
        path.write_text(text)
        return str(path)

    @property
    def environment(self):
        return {"AGENTDASH_HOME": str(self.home), "AGENTDASH_CONFIG": str(self.settings)}

    def _ended(self, session):
        [ended] = self.manager.wait([session.id], timeout=60)
        return ended.id

    def close(self):
        for session in self.manager.reader.sessions():
            with contextlib.suppress(Exception):
                self.manager.stop(session.id, NOW)
        self.manager.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    for name in ("AGENTDASH_SESSION_ID", "AGENTDASH_PROFILE", "NO_COLOR"):
        patch.delenv(name, raising=False)
    world = World(tmp_path_factory.mktemp("hostile"))
    yield world
    world.close()
    patch.undo()


@pytest.fixture(scope="module")
def terminals(world):
    environment = os.environ | world.environment | {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "EDITOR": "true"}
    for name in ("NO_COLOR", "COLUMNS", "AGENTDASH_SESSION_ID", "AGENTDASH_PROFILE"):
        environment.pop(name, None)
    opened = Terminals(environment)
    yield opened
    opened.close()


ARGUMENTS = {
    "ls": [lambda _: [], lambda _: ["--filter", EVIL], lambda _: ["--filter", f"{EVIL}:x"], lambda _: ["-s", EVIL]],
    "spawn": [
        lambda _: ["--wait", "-a", "codex", EVIL],
        lambda _: ["--dry-run", "-a", "codex", EVIL],
        lambda _: ["-a", EVIL, "x"],
        lambda _: ["-C", f"/{EVIL}", "x"],
        lambda _: ["--set", EVIL, "x"],
        lambda _: ["--set", f"a.{EVIL}=1", "x"],
        lambda _: ["--preset", EVIL, "--dry-run"],
        lambda _: ["--preset", f"no{EVIL}", "--dry-run"],
        lambda _: ["--limit", EVIL, "x"],
    ],
    "run": [
        lambda _: ["--wait", "--title", EVIL, "--", "printf", "%s\n%s", EVIL, EVIL],
        lambda _: ["--wait", "--", EVIL],
        lambda _: ["-C", EVIL, "--", "true"],
    ],
    "inject": [lambda w: ["--wait", w.agent, EVIL], lambda w: [w.command, EVIL], lambda w: [w.live, EVIL]],
    "retry": [lambda w: ["--wait", w.fresh()]],
    "set": [
        lambda w: [w.agent, "--mode", EVIL],
        lambda w: [w.agent, "--mode", "read-only"],
        lambda w: [w.command, "--mode", EVIL],
        lambda w: [w.agent, "--model", EVIL],
        lambda w: [w.command, "--model", EVIL],
    ],
    "asks": [lambda w: [w.live] if w.ask() else [], lambda _: []],
    "approve": [lambda w: [w.live, w.ask()], lambda w: [w.live, EVIL], lambda w: [w.command]],
    "deny": [lambda w: ["--message", EVIL, w.live, w.ask()], lambda w: ["--stop", w.live, w.ask()]],
    "answer": [
        lambda w: [w.live, w.ask(), f"{EVIL}={EVIL}"],
        lambda w: [w.live, w.ask(), f"no{EVIL}=x"],
        lambda w: [w.live, w.ask(), EVIL],
    ],
    "stop": [lambda w: [w.command], lambda w: [w.live]],
    "rm": [lambda w: [w.fresh()], lambda w: [w.live]],
    "rename": [lambda w: [w.fresh(), EVIL], lambda w: [w.command, EVIL * 20]],
    "pin": [lambda w: [w.command]],
    "archive": [lambda w: [w.fresh()], lambda w: [w.live]],
    "restore": [lambda _: [], lambda w: [w.deleted()]],
    "clean": [lambda _: [], lambda _: ["--older-than", EVIL], lambda _: ["--older-than", "0s", "--dry-run"]],
    "output": [lambda w: [w.command], lambda w: ["--stderr", w.command], lambda w: [w.agent]],
    "trajectory": [
        lambda w: [w.agent],
        lambda w: ["--full", w.agent],
        lambda w: [w.command],
        lambda w: ["--lines", "all", w.agent],
        lambda w: ["--messages", w.agent],
        lambda w: ["--replay", "--speed", "100000", w.agent],
    ],
    "tail": [lambda w: [w.agent], lambda w: ["--once", w.agent]],
    "rewind": [lambda w: [w.agent], lambda w: ["--list", w.agent]],
    "takeover": [lambda w: [w.agent], lambda w: ["--print", w.agent]],
    "changes": [lambda w: ["--diff", w.agent]],
    "digest": [lambda w: ["--since-start", w.agent]],
    "export": [
        lambda w: [w.agent],
        lambda w: ["--format", "html", w.agent],
        lambda w: ["--format", "json", w.agent],
        lambda w: ["-o", str(w.folder / f"{NAME}.md"), "--force", w.agent],
        lambda w: ["-o", f"/no/{EVIL}.md", w.agent],
        lambda w: ["-o", f"{w.folder}/{NAME}", w.agent],
    ],
    "ps": [lambda w: [w.live], lambda w: [w.command]],
    "wait": [lambda w: [w.command], lambda w: ["--timeout", "0.1", w.live]],
    "view": [
        lambda w: [str(w.folder / "stream.jsonl")],
        lambda w: [w.file("text", f"{EVIL}\n{EVIL}")],
        lambda w: [f"/no/{EVIL}"],
        lambda w: ["--agent", EVIL, w.file("text", EVIL)],
    ],
    "config get": [lambda _: ["agents.codex.model"], lambda _: ["agents.codex"], lambda _: [EVIL]],
    "config edit": [lambda _: [], lambda _: [EVIL]],
    "completion": [lambda _: ["bash"], lambda _: [EVIL]],
    "notify": [lambda _: ["--kind", "osc9", EVIL]],
    "doctor": [lambda _: [], lambda _: ["--rebuild"]],
}  # fmt: skip
"""By verb, what to give it; a verb that is not here is given the session of an agent, or nothing."""


def verbs(group=cli, path=()):
    """Every registered command with its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from verbs(command, (*path, name))
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield " ".join((*path, name)), command


def takes_ids(command):
    return any(isinstance(p, click.Argument) and p.name in ("ref", "refs") for p in command.params)


def tries(name, command):
    """What to give a verb: arguments that work, and ids that do not exist."""
    if name in FULL_SCREEN:
        listed = []
    elif name in ARGUMENTS:
        listed = ARGUMENTS[name]
    else:
        needed = {p.name for p in command.params if isinstance(p, click.Argument) and p.required}
        assert needed <= {"ref", "refs"}, f"say in ARGUMENTS what {name} is to be given"
        listed = [lambda w: [w.agent]] if takes_ids(command) else [lambda _: []]
    wrong = [lambda _: [EVIL]] if takes_ids(command) else []
    return [*listed, *wrong, lambda _: [f"--{EVIL}"]]


LINES = {"events", "tail", "watch"}
"""The verbs that print a JSON value a line with ``--json``, because they print as things happen, as a replay does."""


@pytest.mark.parametrize(("name", "command"), list(verbs()), ids=lambda value: value if isinstance(value, str) else "")
def test_no_verb_lets_a_control_sequence_through(world, terminals, name, command):
    for give in tries(name, command):
        argv = [*name.split(), *give(world)]
        # The middle of a JSON number is no place for a colour: a second run with --json.
        as_json = any(parameter.name == "as_json" for parameter in command.params)
        for options in ([], ["--json"]) if as_json else ([],):
            yes = ["--yes"] if name == "rm" else []
            words = [*name.split(), *options, *yes, *argv[len(name.split()) :]]
            code, out, err = terminals.run(words)
            for text in (out, err):
                assert FORBIDDEN.search(OURS.sub("", text)) is None, (words, ascii(text))
            assert "Traceback" not in err
            assert "Unexpected" not in err, (words, ascii(err))
            assert code in (0, 1, 2, 124), words
            if options and out:
                for line in out.splitlines() if name in LINES or "--replay" in words else [out]:
                    json.loads(line)
            if options and err.startswith("{"):
                assert {key for line in err.splitlines() for key in json.loads(line)} <= {"error", "notice"}


def test_every_verb_is_tried():
    assert {name for name, _ in verbs()} >= set(ARGUMENTS) | FULL_SCREEN


@pytest.mark.parametrize(
    "settings",
    [
        f"default_agent = {json.dumps(EVIL)}\n",
        f"{json.dumps(EVIL)} = 1\n",
        f"[agents.codex]\n{json.dumps(EVIL)} = 1\n",
        f"[keys]\n{json.dumps(EVIL)} = 'x'\n",
        f"[keys]\nquit = {json.dumps(EVIL)}\n",
        f"x = {EVIL}\n",
        f"[limits]\nwall_seconds = {json.dumps(EVIL)}\n",
    ],
)
def test_settings_that_cannot_be_used_are_named_without_their_sequences(world, terminals, settings):
    path = world.file("broken.toml", settings)
    for words in (["config", "check"], ["spawn", "--dry-run", "x"], ["doctor"], ["config", "list", "--json"]):
        code, out, err = terminals.run(words, AGENTDASH_CONFIG=path)
        assert code in (0, 1, 2)
        assert FORBIDDEN.search(OURS.sub("", out + err)) is None, (words, ascii(out + err))


def test_raw_gives_the_bytes_on_a_terminal_and_a_pipe_always_has_them(world, terminals):
    printed = world.manager.reader.outputs.part(world.command).read()
    assert printed == f"{EVIL}\n".encode()
    assert terminals.run(["output", "--raw", world.command])[1].encode() == printed
    assert terminals.run(["run", "--raw", "--wait", "--", "printf", "%s", EVIL])[1] == EVIL
    piped = [sys.executable, "-m", "agentdash", "output", world.command]
    environment = os.environ | world.environment
    assert subprocess.run(piped, env=environment, capture_output=True, check=True).stdout == printed


def test_json_escapes_what_no_terminal_should_get_and_stays_the_same_value(world, terminals):
    _, out, _ = terminals.run(["output", "--json", world.command])
    assert json.loads(out)["text"] == f"{EVIL}\n"
    assert "\\u202e" in out
    assert out.isascii()


def test_output_of_any_size_is_cleaned_as_a_whole(world, terminals):
    """Sequences and characters are cut anywhere by the pieces in which a file is read."""
    script = "import sys; sys.stdout.write(('ü' * 1000 + sys.argv[1] + '\\n') * 300)"
    session = world.manager.run([sys.executable, "-c", script, EVIL])
    [ended] = world.manager.wait([session.id], timeout=60)
    assert ended.exit_code == 0
    _, out, _ = terminals.run(["output", session.id])
    assert FORBIDDEN.search(out) is None
    assert set(out.splitlines()) == {"ü" * 1000 + "red txet"}


def test_Path_is_printed_as_it_is_into_a_pipe(world):
    piped = [sys.executable, "-m", "agentdash", "config", "path"]
    environment = os.environ | world.environment
    done = subprocess.run(piped, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{world.settings}\n"
    assert Path(done.stdout.removesuffix("\n")).exists()
