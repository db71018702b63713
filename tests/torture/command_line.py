"""Command lines with random verbs, and what became of each."""

import json
import subprocess
import sys

from torture.workshop import HERE

DECISIONS = {"allow": ["approve"], "always": ["approve", "--always"], "deny": ["deny"], "stop": ["deny", "--stop"]}
"""The command line for each verdict."""
AGENTDASH = [sys.executable, "-P", "-m", "agentdash"]


class CommandLine:
    """One ``agentdash VERB`` with a random verb on a random session."""

    def __init__(self, workshop, dice, number):
        self._shop = workshop
        self.token = f"torture-{dice.getrandbits(48):012x}"
        self._op, self.words, self._session = self._drawn(dice)
        self._out = workshop.folder / "lines" / f"{number}.json"
        self._out.parent.mkdir(exist_ok=True)
        self._killed = False
        self._note("try")
        with self._out.open("wb") as out, self._out.with_suffix(".err").open("wb") as err:
            self.process = workshop.start(
                [*AGENTDASH, *self.words], "command line", stdin=subprocess.DEVNULL, stdout=out, stderr=err
            )

    def kill(self):
        """Kill -9."""
        self._killed = True
        self.process.kill()
        self.process.wait()

    def over(self):
        """Whether it has ended; what it was told is then in the journal."""
        if self.process.poll() is None:
            return False
        self._judge()
        return True

    def _drawn(self, dice):
        with self._shop.manager() as manager:
            sessions = manager.reader.sessions()[:8]
        asking = [session for session in sessions if session.asking]
        if asking and dice.random() < 0.5:
            self._verdict, words = dice.choice(list(DECISIONS.items()))
            session = dice.choice(asking).id
            return "answer", [words[0], "--json", *words[1:], session, *self._shown(session)], session
        verb = dice.choice(["run", "spawn", "inject", "stop", "rm", "retry", "ls", "explain", "wait", "trajectory"])
        session = dice.choice(sessions).id if sessions else None
        if session is None or verb in ("run", "spawn"):
            nasty = [sys.executable, "-I", "-S", str(HERE / "nasty.py"), "--book", str(self._shop.book.path)]
            argv = ["run", "--json", "--", *nasty, "--seed", str(dice.getrandbits(32)), "--token", self.token]
            if verb == "spawn":
                argv = ["spawn", "--json", "--agent", "codex", self.token]
            return "spawn", argv, None
        own = {"inject": [session, self.token], "rm": ["--yes", session], "wait": ["--timeout", "3", session]}
        words = [verb, "--json", *([] if verb == "ls" else own.get(verb, [session]))]
        return verb, words, session

    def _shown(self, session):
        """The number of the oldest open ask, as if its text had been read; none if it is over."""
        with self._shop.manager() as manager:
            asks = manager.reader.asks(session)[:1]
            manager.asks.shown.note(asks)
        return [str(one.id) for one in asks]

    def _note(self, state, **facts):
        line = {"op": self._op, "state": state, "session": self._session}
        if self._op in ("spawn", "inject"):
            line["token"] = self.token
        if self._op == "answer":
            line["verdict"] = self._verdict
        self._shop.note(**line | facts)

    def _judge(self):
        """Exit code and JSON say what became of it; a traceback or an unexpected error is a crash."""
        text = self._out.with_suffix(".err").read_text(errors="replace")
        if "Traceback" in text or "Unexpected" in text:
            self._note("crash", error=f"agentdash {' '.join(self.words)}: {text}")
            return
        try:
            told = json.loads(self._out.read_bytes())
        except ValueError:
            told = None
        if self._op in ("spawn", "inject", "retry") and isinstance(told, dict) and "id" in told:
            self._note("ok", session=told["id"], turn=told["turn"])
        elif self._op == "answer" and isinstance(told, dict):
            self._note("ok", ask=told["id"])
        elif not self._killed:
            self._note("refused" if self.process.returncode else "ok", error=text)
