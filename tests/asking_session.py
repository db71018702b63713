"""A live session whose agent asks, for the tests that answer it."""

from agentdash.sessions.launch import Start


class AskingSession:
    """A session of a live agent, and the facts that a test waits for."""

    def __init__(self, agent, manager, project, wait_until):
        self.agent, self.manager, self.project, self._wait = agent, manager, project, wait_until
        self.id = ""

    def spawn(self, prompt, options):
        """Start it live."""
        chosen = {"live": True} | options
        self.id = self.manager.spawn(Start(prompt, agent=self.agent, cwd=str(self.project), options=chosen)).id
        return self

    def prompt(self, text):
        self.manager.prompts.inject(self.id, text)

    def until(self, condition, what):
        """Wait for a condition; what it gave."""

        def found():
            self.manager.housekeeping.settle()
            return condition()

        return self._wait(found, timeout=120, what=what)

    @property
    def session(self):
        return self.manager.reader.get(self.id)

    @property
    def asks(self):
        return self.manager.store.asks.of_session(self.id)

    def ended(self, status, turn=1):
        """Wait for the end of a turn; no ask is open then."""
        self.until(lambda: self.session.turn == turn and self.session.status.ended, f"the end of turn {turn}")
        session = self.session
        assert (session.status, session.asking, self.manager.reader.asks(self.id)) == (status, 0, [])
        return session
