"""The output of a live scripted agent, read without agentdash: its turns, its asks and what it did."""

import json
from collections import Counter
from dataclasses import dataclass, field

ALLOWED = ("allow", "always", "answer")
ACTIONS = ("command.started", "file", "tool")
"""The events that name the ask that allowed them."""


@dataclass
class Stream:
    """The events of one process that matter for asks."""

    asked: dict = field(default_factory=dict)
    """The asks by their keys, oldest first."""
    answered: dict = field(default_factory=dict)
    """The verdicts of each ask in the agent's words."""
    ends: dict = field(default_factory=dict)
    """The offset behind the line of each ask."""
    acted: Counter = field(default_factory=Counter)
    """How often each ask is named as the permission of an action."""
    started: Counter = field(default_factory=Counter)
    """How often each command was started."""
    over: Counter = field(default_factory=Counter)
    """How often each command was reported as over."""
    forbidden: list = field(default_factory=list)
    """Commands that were asked for and started without permission."""
    unused: list = field(default_factory=list)
    """Asks for a command or an edit that were allowed, and did nothing before their turn was completed."""


def events_of(data):
    """The events in bytes of output; a line that is cut off is none."""
    return (event for event, _ in events_and_ends(data))


def events_and_ends(data):
    """The same events, each with the offset behind its line."""
    end = 0
    for line in data.splitlines(keepends=True):
        end += len(line)
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event, end


def read_stream(data, asked_for):
    """Read the whole output of a process.

    Args:
        data: the bytes.
        asked_for: the commands that need a permission.
    """
    stream, running = Stream(), {}
    permits, always, pending = Counter(), set(), {}
    for event, end in events_and_ends(data):
        kind, key = event.get("type"), event.get("key")
        if kind == "ask":
            stream.asked[key], stream.ends[key] = event, end
        elif kind == "answered":
            ask, verdict = stream.asked.get(key, {}), event.get("verdict")
            stream.answered.setdefault(key, []).append(verdict)
            if verdict in ALLOWED and ask.get("kind") in ("command", "edit"):
                pending[key] = ask
                permits[ask.get("body")] += 1
            if verdict == "always":
                always.add(ask.get("body"))
        elif kind == "command.ended":
            stream.over[running.pop(event.get("id"), None)] += 1
        elif kind == "turn_ended":
            stream.unused += list(pending) if event.get("status") == "completed" else []
            pending.clear()
        if kind in ACTIONS and event.get("ask"):
            stream.acted[event["ask"]] += 1
            pending.pop(event["ask"], None)
        if kind == "command.started":
            command = running[event.get("id")] = event.get("command")
            stream.started[command] += 1
            if command in asked_for and command not in always:
                if not permits[command]:
                    stream.forbidden.append(command)
                permits[command] -= 1
    return stream


def began_by_itself(data):
    """Whether the agent began every turn in these bytes of output."""
    keys = [event.get("key") for event in events_of(data) if event.get("type") == "turn_began"]
    return bool(keys) and not any(keys)
