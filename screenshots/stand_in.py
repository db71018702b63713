"""A stand-in for codex, for the pictures of a take over: its turns, and its own interface.

Its turns print what `codex exec --json` prints.  Its interface adds to the thread's transcript what a user and codex
would say there (codex-cli 0.169.0), and stays open while a file exists.
"""

import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

THREAD = "0190f7a2-0000-7000-8000-000000000001"
STAY = "stay"
"""The file in the home of codex that keeps the interface open."""
SPOKEN = "spoken"
"""The file there that the interface makes when it has said all."""

ANSWER = "The clock of the test is frozen and the login test passes. It still fails with a slow network."


def transcript(home: Path) -> Path:
    """Return the transcript of the thread."""
    return home / "sessions" / "2026" / "01" / "31" / f"rollout-2026-01-31T12-00-00-{THREAD}.jsonl"


def main(argv: list[str]) -> None:
    """Run one turn, or the interface."""
    home = Path(os.environ["CODEX_HOME"])
    if "resume" in argv and "exec" not in argv:
        interface(home)
    else:
        sys.stdin.read()
        turn()


def turn() -> None:
    """Print a turn with two commands and an answer."""
    tell(type="thread.started", thread_id=THREAD)
    tell(type="turn.started")
    for number, (line, output, seconds, code) in enumerate(
        (
            ("pytest -q tests/test_login.py", "1 failed, 11 passed in 2.31s\n", 2.4, 1),
            ("pytest -q tests/test_login.py", "12 passed in 1.02s\n", 1.1, 0),
        )
    ):
        item = {"id": f"item_{number}", "type": "command_execution", "command": line}
        tell(type="item.started", item=item | {"aggregated_output": "", "status": "in_progress"})
        time.sleep(seconds)
        state = "failed" if code else "completed"
        tell(type="item.completed", item=item | {"aggregated_output": output, "exit_code": code, "status": state})
    tell(type="item.completed", item={"id": "item_9", "type": "agent_message", "text": ANSWER})
    usage = {"input_tokens": 18_400, "cached_input_tokens": 9_000, "output_tokens": 910}
    tell(type="turn.completed", usage=usage)


def interface(home: Path) -> None:
    """Add two prompts and their answers to the transcript, and wait."""
    at = datetime.now(UTC)
    with transcript(home).open("a") as file:
        for line in said():
            at += timedelta(seconds=line.pop("after", 0.4))
            file.write(json.dumps({"timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z"} | line) + "\n")
    (home / SPOKEN).touch()
    while (home / STAY).exists():
        time.sleep(0.05)


def said() -> list[dict[str, Any]]:
    """Return the lines of the transcript for what is said by hand; ``after``: seconds since the line before."""
    return [
        *prompt("Show me where it waits for the network"),
        *command("call_1", "rg -n timeout src/login.py", "41:    reply = fetch(url, timeout=1.0)\n", 0.1),
        *answer("In src/login.py, line 41: the request has one second, and a slow network needs more."),
        *prompt("Use the timeout of the settings, and run the test ten times"),
        *command("call_2", "pytest -q --count 10 tests/test_login.py", "120 passed in 1.87s\n", 1.9),
        *answer("The request takes its timeout from the settings. The test passed ten times."),
    ]


def prompt(text: str) -> list[dict[str, Any]]:
    """Return the lines of a prompt of the user."""
    content = [{"type": "input_text", "text": text}]
    return [
        {"type": "event_msg", "payload": {"type": "task_started", "turn_id": text}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}},
    ]


def command(call: str, line: str, output: str, seconds: float) -> list[dict[str, Any]]:
    """Return the lines of a command that took some seconds, and its output."""
    begun = {"type": "function_call", "name": "exec_command", "call_id": call, "arguments": json.dumps({"cmd": line})}
    printed = f"Wall time: {seconds} seconds\nProcess exited with code 0\nOutput:\n{output}"
    ended = {"type": "function_call_output", "call_id": call, "output": printed}
    return [
        {"type": "response_item", "payload": begun},
        {"type": "response_item", "payload": ended, "after": seconds},
    ]


def answer(text: str) -> list[dict[str, Any]]:
    """Return the lines of an answer."""
    payloads = ({"type": "agent_message", "message": text}, {"type": "task_complete", "last_agent_message": text})
    return [{"type": "event_msg", "payload": payload} for payload in payloads]


def tell(**event: Any) -> None:
    """Print an event of a turn."""
    print(json.dumps(event), flush=True)


if __name__ == "__main__":
    main(sys.argv)
