"""The demo agent's process: it plays one script like a real agent, with real commands and files.

Like real agents, it runs each command in a process session of its own, and ends quickly and silently at SIGINT.
"""

import argparse
import contextlib
import difflib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from ...storage.paths import write_atomic
from . import events
from .place import ONLY_INSIDE, DemoPlace, find_demo
from .script import Beat, load_script

MODEL = "demo-1"
OUTPUT_CHARACTERS = 20_000


class Memory:
    """The earlier prompts, for follow-ups to refer to; stored in the state folder."""

    def __init__(self, conversation: str) -> None:
        self._path = Path(os.environ["AGENTDASH_HOME"]) / "demo" / f"{conversation}.json"

    def prompts(self) -> list[str]:
        """Return the prompts of earlier turns."""
        try:
            prompts = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return []
        return [text for text in prompts if isinstance(text, str)] if isinstance(prompts, list) else []

    def add(self, prompt: str) -> None:
        """Store a prompt; a demo that cannot write continues without it."""
        prompts = [*self.prompts(), prompt]
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            write_atomic(self._path, json.dumps(prompts).encode())


class Player:
    """Plays one script."""

    def __init__(self, place: DemoPlace, speed: float, prompt: str, earlier: list[str]) -> None:
        self._place = place
        self._speed = speed
        self._words = {
            "prompt": prompt,
            "earlier": earlier[-1] if earlier else "nothing",
            "count": str(len(earlier) + 1),
        }
        self._commands = 0
        self._running: subprocess.Popen[str] | None = None

    def play(self, beats: list[Beat]) -> int:
        """Play to the end; return the exit code of the process."""
        for beat in beats:
            for number in range(1, beat.repeat + 1):
                self._words["n"] = str(number)
                time.sleep(beat.pause / self._speed)
                if beat.end is not None:
                    emit(beat.end)
                    return 0 if beat.end.ok else 1
                self._one(beat)
        return 0

    def interrupt(self) -> None:
        """End the running command, as real agents do."""
        if self._running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._running.pid, signal.SIGTERM)

    def _one(self, beat: Beat) -> None:
        for event in beat.events():
            emit(msgspec.convert(self._filled(msgspec.to_builtins(event)), events.AnyEvent))
        if beat.run is not None:
            self._run(self._filled(beat.run))
        if beat.write is not None:
            emit(self._write(Path(beat.write.path), self._filled(beat.write.content)))
        if beat.leave is not None:
            leave(beat.leave.argv, detached=beat.leave.detached)

    def _run(self, command: str) -> None:
        self._commands += 1
        number = f"command_{self._commands}"
        emit(events.CommandStarted(id=number, command=command))
        self._running = subprocess.Popen(
            ["/bin/sh", "-Cc", command],  # -C: redirection does not overwrite files
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        output, _ = self._running.communicate()
        code = self._running.returncode
        self._running = None
        emit(events.CommandEnded(id=number, exit_code=code, output=output[:OUTPUT_CHARACTERS]))

    def _write(self, path: Path, content: str) -> events.FileChange:
        whole = str(path.absolute())
        try:
            before = self._place.write(path, content)
        except OSError as error:
            return events.FileChange(path=whole, kind="update", diff="", error=str(error))
        diff = difflib.unified_diff(before.splitlines(), content.splitlines(), lineterm="", n=3)
        return events.FileChange(path=whole, kind="update" if before else "add", diff="\n".join(list(diff)[2:]))

    def _filled(self, value: Any) -> Any:
        """Fill in ``{prompt}``, ``{earlier}``, ``{count}`` and ``{n}`` in every text."""
        if isinstance(value, str):
            for name, word in self._words.items():
                value = value.replace("{" + name + "}", word)
            return value
        if isinstance(value, dict):
            return {key: self._filled(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._filled(inner) for inner in value]
        return value


def emit(event: events.Event) -> None:
    """Print one event."""
    sys.stdout.buffer.write(msgspec.json.encode(event) + b"\n")
    sys.stdout.buffer.flush()


def leave(argv: list[str], *, detached: bool) -> None:
    """Start a process without waiting for it: in the player's group, or in a process session of its own."""
    quiet = subprocess.DEVNULL
    words = [sys.executable if word == "PYTHON" else word for word in argv]
    subprocess.Popen(words, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=detached)


def main() -> int:
    """Play one turn; the prompt is read from standard input."""
    parser = argparse.ArgumentParser(prog="demo_player")
    parser.add_argument("--script", required=True)
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--conversation")
    parser.add_argument("--resume")
    given, _ = parser.parse_known_args()
    conversation = given.resume or given.conversation or "demo"
    prompt = sys.stdin.read()
    place = find_demo(Path(os.environ.get("AGENTDASH_HOME", "")))
    if place is None or not place.holds(Path.cwd()):
        emit(
            events.Ended(
                ok=False,
                input_tokens=0,
                cached_input_tokens=0,
                output_tokens=0,
                reasoning_output_tokens=0,
                error=ONLY_INSIDE,
            )
        )
        return 1
    memory = Memory(conversation)
    player = Player(place, given.speed, prompt.strip(), memory.prompts() if given.resume else [])

    def interrupted(*_: object) -> None:
        player.interrupt()
        os._exit(130)

    signal.signal(signal.SIGINT, interrupted)
    emit(events.Started(conversation=conversation, model=MODEL))
    memory.add(prompt.strip())
    return player.play(load_script(given.script))


if __name__ == "__main__":
    sys.exit(main())
