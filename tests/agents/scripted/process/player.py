"""The scripted agent's process of one turn: it plays one script like a real agent, with real commands and files.

Like real agents, it runs each command in a process session of its own, and ends quickly and silently at SIGINT.
"""

import argparse
import os
import signal
import sys
import time

from agentdash.sessions.storage.paths import default_home
from scripted import events
from scripted.conversation import Conversation
from scripted.live_events import TurnEnded
from scripted.process.actions import MODEL, emit
from scripted.process.command import Command
from scripted.process.turn import Stage, Turn
from scripted.script import Beat, load_script


class Player:
    """Plays one script; what needs the user's permission is declined."""

    def __init__(self, speed: float, prompt: str, earlier: list[str]) -> None:
        self._turn = Turn(Stage(speed=speed), words_of(prompt, earlier))
        self._running: Command | None = None

    def play(self, beats: list[Beat]) -> int:
        """Play to the end; return the exit code of the process."""
        steps = self._turn.play(beats)
        while True:
            try:
                wait = next(steps)
            except StopIteration as stop:
                return _said(stop.value)
            if isinstance(wait, float):
                time.sleep(wait)
            elif isinstance(wait, Command):
                self._running = wait
                wait.wait()
                self._running = None

    def interrupt(self) -> None:
        """End the running command, as real agents do."""
        if self._running is not None:
            self._running.signal(signal.SIGTERM)


def _said(end: TurnEnded | None) -> int:
    """Print the end of the script; return the exit code."""
    if end is None:
        return 0
    fields = {name: getattr(end, name) for name in end.__struct_fields__ if name != "status"}
    emit(events.Ended(ok=end.status == "completed", **fields))
    return 0 if end.status == "completed" else 1


def words_of(prompt: str, earlier: list[str]) -> dict[str, str]:
    """Return the words that the texts of a script refer to."""
    return {"prompt": prompt, "earlier": earlier[-1] if earlier else "nothing", "count": str(len(earlier) + 1)}


def arguments(program: str) -> argparse.ArgumentParser:
    """Return the options that both players take."""
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("--script", required=True)
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--conversation")
    parser.add_argument("--resume")
    return parser


def main() -> int:
    """Play one turn; the prompt is read from standard input."""
    given, _ = arguments("player").parse_known_args()
    name = given.resume or given.conversation or "scripted"
    prompt = sys.stdin.read().strip()
    conversation = Conversation(default_home(), name)
    player = Player(given.speed, prompt, conversation.prompts if given.resume else [])

    def interrupted(*_: object) -> None:
        player.interrupt()
        os._exit(130)

    signal.signal(signal.SIGINT, interrupted)
    emit(events.Started(conversation=name, model=MODEL))
    conversation.add(prompt)
    return player.play(load_script(given.script))


if __name__ == "__main__":
    sys.exit(main())
