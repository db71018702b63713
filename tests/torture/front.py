"""One front end in a process of its own: does random things to sessions that it shares with others.

``python front.py WORK NAME SEED WHAT NUMBER...``, where WHAT is

``cycles COUNT``     start so many sessions, and do random things to them and to those of others,
``end PART PARTS``   stop what is at work in this part of all sessions; what waits in the queue must come by itself,
``stop PART PARTS``  stop every session of this part, for the sake of what it left behind,
``flood COUNT``      start so many agents of each kind that print until the disk is full.

It says in its journal what it is about to do, and what it was told, each by one write: after kill -9 it is known
what had been accepted.
"""

import contextlib
import os
import random
import sys
import time
import traceback
from pathlib import Path

from lines import as_line  # type: ignore[import-not-found]

from agentdash.sessions.model.errors import AgentdashError, UnknownSessionError
from agentdash.sessions.rules.asks.answers import taken
from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager

NASTY = Path(__file__).with_name("nasty.py")

SCRIPTS = {"quick": 5, "followup": 2, "tree": 3, "leftovers": 2, "fail": 1, "silent": 1}
"""What the scripted agent plays, and how often."""

LIVE_SCRIPTS = {"ask": 5, "steer": 3, "edit": 2, "question": 2, "plan": 1, "wake": 1, "quick": 1}
"""What a live scripted agent plays for a prompt, and how often."""

ASK_SECONDS = 1.0
"""Longest wait for an ask that a front end answers."""

KINDS = {"command": 4, "scripted": 3, "codex": 3, "live": 4}
"""What is started, and how often."""

VERBS = {
    "stop": 4,
    "kill": 2,
    "delete": 1,
    "inject": 5,
    "retry": 3,
    "settle": 2,
    "look": 3,
    "list": 2,
    "answer": 6,
    "interrupt": 2,
}


class Journal:
    """What this front end tried, and what came of it."""

    def __init__(self, path, who):
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._who = who
        self._number = 0

    def attempt(self, op, action, **facts):
        """Do one thing, with a line before and a line after; what the action gave, or None."""
        self._number += 1
        self._write(op, "try", facts)
        try:
            session = action()
        except AgentdashError as error:
            self._write(op, "refused", facts | {"error": f"{type(error).__name__}: {error}"})
            return None
        except Exception:
            self._write(op, "crash", facts | {"error": traceback.format_exc()})
            return None
        given = {"session": session.id, "turn": session.turn} if hasattr(session, "turn") else {}
        self._write(op, "ok", facts | given)
        return session

    def _write(self, op, state, facts):
        os.write(self._descriptor, as_line({"who": self._who, "n": self._number, "op": op, "state": state} | facts))


class Front:
    """A front end and its dice."""

    def __init__(self, work, name, seed):
        self._book = str(work / "book.jsonl")
        self._journal = Journal(work / "journal.jsonl", name)
        self._dice = random.Random(seed)
        self._manager = self._opened()

    def _opened(self):
        """The manager, as soon as there is room for the database's own files."""
        while (manager := self._try("open", SessionManager)) is None:
            time.sleep(0.5)
        return manager

    def cycles(self, count):
        """Start a session and do something to others, again and again; then stop one."""
        for _ in range(count):
            self._start()
            if self._dice.random() < 0.4:
                self._converse()
            for _ in range(self._dice.randint(1, 3)):
                self._act(*self._dice.choices(list(VERBS), VERBS.values()))
            self._act("kill" if self._dice.random() < 0.5 else "stop")

    def end(self, part, parts):
        """Stop what is at work, so that what is queued can come."""
        live = [session for session in self._manager.reader.sessions() if session.status.live]
        self._stop(sorted(live, key=lambda s: s.id)[part::parts])

    def stop_all(self, part, parts):
        """Stop every session that falls to this one of several."""
        self._stop(sorted(self._manager.reader.sessions(), key=lambda s: s.id)[part::parts])

    def _stop(self, sessions):
        for session in sessions:
            self._try("stop", lambda s=session: self._manager.stop(s.id, NOW), session=session.id)

    def flood(self, count):
        """Agents that fill the disk, and one of each other kind beside them."""
        for number in range(2 * count):
            signs = [f"--{sign}={Path(self._book).with_name(sign)}" for sign in ("begin", "go")]
            self._run(["--flood", "impatient" if number % 2 else "patient", *signs])
        token = self._token()
        self._try(
            "spawn",
            lambda: self._manager.spawn(Start(token, agent="scripted", options={"script": "long"})),
            token=token,
        )
        self._run([])

    def _run(self, words):
        token, seed = self._token(), str(self._dice.getrandbits(32))
        argv = [sys.executable, "-I", "-S", str(NASTY), "--book", self._book, "--seed", seed, "--token", token, *words]
        return self._try("spawn", lambda: self._manager.run(argv), token=token)

    def _try(self, op, action, **facts):
        return self._journal.attempt(op, action, **facts)

    def _start(self):
        token, manager = self._token(), self._manager
        kind = self._dice.choices(list(KINDS), KINDS.values())[0]
        if kind == "command":
            session = self._run([])
        elif kind == "live":
            start = Start(self._marked(token), agent="scripted", options={"live": True, "speed": 20})
            session = self._try("spawn", lambda: manager.spawn(start), token=token)
        elif kind == "scripted":
            script = self._dice.choices(list(SCRIPTS), SCRIPTS.values())[0]
            options = {"script": script, "speed": 20}
            session = self._try(
                "spawn", lambda: manager.spawn(Start(token, agent="scripted", options=options)), token=token
            )
        else:
            session = self._try("spawn", lambda: manager.spawn(Start(token, agent="codex")), token=token)
        if session is not None and self._dice.random() < 0.7:
            self._try("started", lambda: manager.started(session.id), session=session.id)

    def _act(self, op):
        sessions = self._manager.reader.sessions()
        if not sessions:
            return
        # The newest ones: there the others are busy, too.
        session, manager = self._dice.choice(sessions[:8]), self._manager
        if op in ("stop", "kill", "delete") and self._is_live(session) and self._dice.random() < 0.7:
            return  # a conversation needs time
        if op == "answer":
            self._answer()
            return
        if op == "inject":
            self._inject(session)
            return
        actions = {
            "stop": lambda: manager.stop(session.id),
            "kill": lambda: manager.stop(session.id, NOW),
            "delete": lambda: manager.delete(session.id),
            "retry": lambda: manager.prompts.retry(session.id).session,
            "interrupt": lambda: manager.prompts.interrupt(session.id),
            "settle": manager.housekeeping.settle,
            "look": lambda: self._look(session.id),
            "list": lambda: (manager.reader.changes(0), manager.reader.sessions(), manager.reader.recent_prompts()),
        }
        self._try(op, actions[op], session=session.id)

    def _converse(self):
        """Send prompts to a live agent, and answer its next ask."""
        found = [session for session in self._manager.reader.sessions()[:12] if self._is_live(session)]
        if not found:
            return
        session = self._dice.choice(found)
        for _ in range(self._dice.randint(1, 3)):
            self._inject(session)
        deadline = time.monotonic() + ASK_SECONDS
        while time.monotonic() < deadline and not self._manager.reader.asks():
            time.sleep(0.02)
        self._answer()

    def _inject(self, session):
        token = self._token()
        words = self._marked(token) if self._is_live(session) else token
        prompts = self._manager.prompts
        self._try("inject", lambda: prompts.inject(session.id, words).session, token=token, session=session.id)

    def _is_live(self, session):
        with contextlib.suppress(UnknownSessionError):  # another front end may delete it at this moment
            return any(turn.transport for turn in self._manager.reader.turns(session.id)[:1])
        return False

    def _marked(self, token):
        """The prompt of a live agent: it names the script."""
        return f"[[script:{self._dice.choices(list(LIVE_SCRIPTS), LIVE_SCRIPTS.values())[0]}]] {token}"

    def _answer(self):
        """Answer one of the asks that others answer at the same time; sometimes contradict at once."""
        waiting = self._manager.reader.asks()
        if not waiting:
            return
        asked = self._dice.choice(waiting[:4])
        verdicts = list(taken(asked.ask))
        self._dice.shuffle(verdicts)
        for verdict in verdicts[: self._dice.choice([1, 2])]:
            answer = Answer(verdict=verdict, values=_values(asked.ask) if verdict is Verdict.ANSWER else {})
            self._try(
                "answer",
                lambda answer=answer: self._manager.asks.answer(asked.id, answer) and None,
                session=asked.session,
                ask=asked.id,
                verdict=verdict,
            )

    def _look(self, session_id):
        manager = self._manager
        manager.housekeeping.mark_seen(session_id)
        manager.reader.explain(session_id)
        manager.reader.steps.trajectory(session_id)
        manager.reader.processes(session_id)

    def _token(self):
        return f"torture-{self._dice.getrandbits(48):012x}"


def _values(ask):
    """An answer to every question."""
    return {question.key: (question.choices[0].label if question.choices else "torture",) for question in ask.questions}


def main(work, name, seed, what, *numbers):
    """Run one front end to its end."""
    front = Front(Path(work), name, seed)
    {"cycles": front.cycles, "end": front.end, "stop": front.stop_all, "flood": front.flood}[what](*map(int, numbers))


if __name__ == "__main__":
    main(*sys.argv[1:])
