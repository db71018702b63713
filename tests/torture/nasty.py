"""A hostile agent: starts a random tree of processes that do not want to be found or to end.

Needs nothing but the standard library, and is started like any command::

    agentdash run -- python nasty.py --book FILE --seed 7 --token torture-0123456789ab

Whatever it starts writes itself into the book (one JSON line, one write) before it misbehaves.  So the list of
processes is ours, and does not depend on what agentdash knows.

With ``--protocol codex`` it speaks like ``codex exec --json``: the prompt comes on standard input, and a later turn
resumes.  With ``--flood`` it prints until the disk is full.
"""

import argparse
import errno
import json
import os
import random
import re
import signal
import sys
import time

LIFE_SECONDS = 900
"""Nothing started here outlives this, should everybody else forget it."""

RESPAWNS = 20
"""How often a child that was ended is started again."""

TOKEN = re.compile(r"torture-[0-9a-f]{12}")

IGNORES_INT = "ignores-int"
IGNORES_TERM = "ignores-term"
DOUBLE_FORKS = "double-forks"
LEAVES_SESSION = "leaves-session"
LEAVES_GROUP = "leaves-group"
CLOSES = "closes-descriptors"
BARE = "clears-environment"
RESPAWNING = "respawns"
PARENT = "has-children"
STOPPED = "stops-itself"
BRIEF = "ends-soon"

BEHAVIOURS = {
    IGNORES_INT: 0.5,
    IGNORES_TERM: 0.5,
    DOUBLE_FORKS: 0.35,
    LEAVES_SESSION: 0.4,
    LEAVES_GROUP: 0.15,
    CLOSES: 0.3,
    BARE: 0.2,
    RESPAWNING: 0.1,
    PARENT: 0.3,
    STOPPED: 0.08,
    BRIEF: 0.15,
}
"""Every behaviour a child may have, and how probable it is."""

INHERITED = (BARE, LEAVES_SESSION, LEAVES_GROUP)
"""What is true of the children of such a process, too."""


class Book:
    """The harness's list, from the side of those who are on it."""

    def __init__(self, path, session, run):
        self.path, self.session, self.run = path, session, run

    def write(self, kind, **facts):
        """Append one line by one write, as ``lines.py`` does: it begins with a newline, too."""
        line = json.dumps({"kind": kind, "session": self.session, "run": self.run, **facts})
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, b"\n" + line.encode() + b"\n")
        finally:
            os.close(descriptor)

    def sign(self, how):
        """Enter the process that calls."""
        with open("/proc/self/stat", "rb") as file:
            stat = file.read()
        # The name stands in brackets and may hold anything: count from behind the last one.
        start = int(stat[stat.rfind(b")") + 2 :].split()[19])
        self.write("process", pid=os.getpid(), start=start, how=sorted(how))


def drawn(dice):
    """A random choice of behaviours."""
    how = {name for name, chance in BEHAVIOURS.items() if dice.random() < chance}
    if BARE in how:
        # Nothing but the runner's memory can find what has left its parent, its session and its environment.
        how |= {DOUBLE_FORKS, LEAVES_SESSION}
    return how


def start_child(book, dice, depth, inherited=frozenset()):
    """Fork one child with random behaviours."""
    how, seed = drawn(dice), dice.getrandbits(32)
    if os.fork() == 0:
        try:
            misbehave(book, how, set(inherited), seed, depth)
        finally:
            os._exit(0)


def misbehave(book, how, inherited, seed, depth):
    """Be the child, to the end."""
    signal.alarm(LIFE_SECONDS)
    book.sign(how | inherited)
    if LEAVES_SESSION in how:
        os.setsid()
    elif LEAVES_GROUP in how:
        os.setpgid(0, 0)
    if DOUBLE_FORKS in how:
        if os.fork():
            os._exit(0)
        signal.alarm(LIFE_SECONDS)
        book.sign(how | inherited)
    for name, number in ((IGNORES_INT, signal.SIGINT), (IGNORES_TERM, signal.SIGTERM)):
        if name in how:
            signal.signal(number, signal.SIG_IGN)
    if BARE in how:
        words = ["--book", book.path, "--session", book.session, "--run", book.run, "--seed", str(seed)]
        words += ["--depth", str(depth), "--child", ",".join(sorted(how | inherited))]
        os.execve(sys.executable, [sys.executable, "-I", "-S", __file__, *words], {})
    settle_in(book, how, inherited, seed, depth)


def settle_in(book, how, inherited, seed, depth):
    """What follows once the process is where it wants to be."""
    dice = random.Random(seed)
    if CLOSES in how:
        os.closerange(0, 1024)
    passed_on = inherited | (how & set(INHERITED))
    if PARENT in how and depth > 0:
        for _ in range(dice.randint(1, 2)):
            start_child(book, dice, depth - 1, passed_on)
    if BRIEF in how:
        time.sleep(dice.uniform(0, 0.3))
        return
    if RESPAWNING in how and depth >= 0:
        for _ in range(RESPAWNS):
            start_child(book, dice, -1, passed_on)
            os.wait()
    if STOPPED in how:
        os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        signal.pause()


def say(text):
    """Print a line, past all buffers."""
    rest = text.encode() + b"\n"
    while rest:
        rest = rest[os.write(1, rest) :]


def end(book, *, code=None, number=None):
    """Write down how it will end, then end like that."""
    book.write("end", exit=code, signal=None if number is None else signal.Signals(number).name)
    if number is not None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(code)


def drawn_end(dice, ends):
    """How this agent ends: ``lives``, an exit code or a signal."""
    names, weights = zip(*ends.items(), strict=True)
    return dice.choices(names, weights)[0]


def be_command(book, dice, token):
    """An agent without a protocol: prints a little, starts its tree, ends or lives on."""
    # After the reading of the argv, before anything else: an agent that is killed from here on was given its prompt.
    book.write("prompt", token=token)
    for number in range(dice.randint(1, 5)):
        say(f"{token} line {number}")
    for _ in range(dice.randint(1, 4)):
        start_child(book, dice, 2)
    say(f"{token} ready")
    how = drawn_end(dice, {"lives": 5, "good": 3, "bad": 2, "signal": 2})
    if how == "lives":
        while True:
            signal.pause()
    time.sleep(dice.uniform(0, 0.5))
    if how == "signal":
        end(book, number=dice.choice([signal.SIGKILL, signal.SIGHUP]))
    end(book, code=0 if how == "good" else dice.choice([1, 7, 143]))


def be_codex(book, dice, thread, prompt):
    """An agent whose conversation goes on: the events of codex around the same tree."""
    told = TOKEN.findall(prompt)
    # A conversation that is told again names earlier prompts first.
    token = told[-1] if told else ""
    book.write("prompt", token=token)
    dice = random.Random(f"{dice.random()} {token}")
    say(json.dumps({"type": "thread.started", "thread_id": thread}))
    say(json.dumps({"type": "turn.started"}))
    item = {"id": "item_0", "type": "agent_message", "text": f"you said {token}"}
    say(json.dumps({"type": "item.completed", "item": item}))
    for _ in range(dice.randint(0, 3)):
        start_child(book, dice, 1)
    how = drawn_end(dice, {"lives": 3, "good": 5, "failed": 1, "mute": 1, "liar": 1, "signal": 1})
    if how == "lives":
        while True:
            signal.pause()
    time.sleep(dice.uniform(0, 0.5))
    if how in ("good", "liar"):
        usage = {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2}
        say(json.dumps({"type": "turn.completed", "usage": usage}))
    elif how == "failed":
        say(json.dumps({"type": "turn.failed", "error": {"message": "the model is gone"}}))
    if how == "signal":
        end(book, number=signal.SIGKILL)
    end(book, code=1 if how in ("failed", "liar") else 0)


def be_flood(book, dice, token, begin, go, *, patient):
    """Print until the disk is full, and know to the byte what was taken; begins when all are there.

    A patient one goes on once there is room again; the other one ends while the disk is full.  Who is sent once more
    when there is room finds it over: filling the disk again would leave none for the others.
    """
    book.write("prompt", token=token)
    written, number, told = 0, 0, os.path.exists(go)  # noqa: PTH110 - pathlib is too slow to import here
    while not os.path.exists(begin):  # noqa: PTH110 - pathlib is too slow to import here
        time.sleep(0.05)
    while not (told and (not patient or os.path.exists(go))):  # noqa: PTH110 - as above
        rest = b"%s %08d %s\n" % (token.encode(), number, b"x" * dice.randint(100, 8000))
        number += 1
        while rest:
            try:
                taken = os.write(1, rest)
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
                    raise
                if not told:
                    book.write("full", bytes=written)
                    told = True
                if not patient:
                    break
                time.sleep(0.05)
                continue
            written, rest = written + taken, rest[taken:]
    book.write("wrote", bytes=written)
    end(book, code=0)


def main():
    """Be what the arguments say."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--book", required=True)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--token", default="")
    parser.add_argument("--protocol", default="command")
    parser.add_argument("--session", default=os.environ.get("AGENTDASH_SESSION_ID", ""))
    parser.add_argument("--run", default=os.environ.get("AGENTDASH_RUN_ID", ""))
    parser.add_argument("--child")
    parser.add_argument("--depth", type=int, default=0)
    parser.add_argument("--flood", choices=["patient", "impatient"])
    parser.add_argument("--begin", default="")
    parser.add_argument("--go", default="")
    given, rest = parser.parse_known_args()
    book = Book(given.book, given.session, given.run)
    if given.child is not None:
        settle_in(book, set(given.child.split(",")), set(), given.seed, given.depth)
        return
    signal.alarm(LIFE_SECONDS)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    dice = random.Random(given.seed)
    how = {"agent"} | {name for name in (IGNORES_INT, IGNORES_TERM) if dice.random() < 0.4}
    book.sign(how)
    for name, number in ((IGNORES_INT, signal.SIGINT), (IGNORES_TERM, signal.SIGTERM)):
        if name in how:
            signal.signal(number, signal.SIG_IGN)
    if given.flood:
        be_flood(book, dice, given.token, given.begin, given.go, patient=given.flood == "patient")
    elif given.protocol == "codex":
        thread = rest[rest.index("resume") + 1] if "resume" in rest else f"thread-{given.session}"
        be_codex(book, dice, thread, sys.stdin.read())
    else:
        be_command(book, dice, given.token)


if __name__ == "__main__":
    main()
