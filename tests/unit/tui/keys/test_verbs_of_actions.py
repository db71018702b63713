"""Every action of the dashboard that changes or prints something is a verb of the command line."""

import click

from agentdash.tui.cli.main import cli
from agentdash.tui.keys.actions import (
    FILES_KEYS,
    LINES_KEYS,
    PROMPT_KEYS,
    REGISTRY,
    STEP_KEYS,
    STEPS_KEYS,
    TABLE_KEYS,
    USAGE_KEYS,
)
from agentdash.tui.keys.command_line import VERBS as VERBS_FIRST

VERBS = {
    "new_session": "spawn",
    "new_like": "spawn",
    "new_after": "spawn --after",
    "continue": "continue",
    "start_waiting": "start",
    "wait_for": "start --after",
    "to_lead": "show",
    "write_prompt": "inject",
    "template": "config templates",
    "stop": "stop",
    "kill": "stop --now",
    "interrupt_turn": "interrupt",
    "mode": "set --mode",
    "take_over": "takeover",
    "answer": "answer",
    "queue": "queue",
    "retry": "retry",
    "delete": "rm",
    "archive": "archive",
    "rename": "rename",
    "pin": "pin",
    "mark_read": "mark",
    "undo": "restore",
    "processes": "ps",
    "trust": "trust",
    "follow": "tail",
    "settings": "config list",
    "table.filter": "ls --filter",
    "table.all": "ls",
    "table.needs_you": "ls --filter",
    "table.at_work": "ls --filter",
    "table.failed": "ls --filter",
    "table.done": "ls --filter",
    "table.queued": "ls --filter",
    "table.here": "ls --here",
    "table.changes": "changes",
    "table.explain": "explain",
    "table.copy": "trajectory --messages",
    "table.copy_part": "trajectory",
    "table.page_answer": "trajectory --messages",
    "table.page_file": "output",
    "table.edit_answer": "trajectory --messages",
    "steps.search": "trajectory",
    "steps.copy": "trajectory",
    "steps.copy_part": "trajectory",
    "steps.page_step": "trajectory --full",
    "steps.page_file": "output --stderr",
    "steps.edit_step": "trajectory",
    "steps.changes": "changes --diff",
    "steps.export": "export",
    "steps.raw": "output",
    "steps.stderr": "output --stderr",
    "steps.explain": "explain",
    "steps.fork": "fork",
    "steps.rewind": "rewind",
    "steps.undo": "rewind --undo",
    "steps.compact": "compact",
    "table.archived": "ls --filter",
    "table.trash": "ls --filter",
    "table.export": "export",
    "table.fork": "fork",
    "table.compact": "compact",
    "retry_failed": "retry",
    "usage": "usage",
    "usage.day": "usage --by",
    "usage.week": "usage --by",
    "usage.month": "usage --by",
    "usage.group": "usage --by",
    "usage.open": "usage --by",
    "files.copy": "changes",
    "files.step": "changes",
    "files.look_again": "changes",
    "help": "config keys",
}
"""The verb of each action, with the option that it needs."""

ONLY_ON_THE_SCREEN = {
    "table.next_attention", "table.previous_attention", "shell", "lazygit", "beside", "command_line", "smaller",
    "larger", "zoom", "meter", "theme", "mouse", "log", "back", "quit", "table.sort", "table.reverse", "table.group",
    "table.columns", "table.density", "table.views", "steps.next_match", "steps.previous_match", "steps.go_to",
    "steps.source", "files.edit", "usage.unit", "palette", "redraw", "suspend", "interrupt", "next_pane",
    "menu.go", "menu.view", "menu.session", "files.next", "files.previous", "files.search", "files.next_match",
    "files.previous_match", "diffs.next", "diffs.previous",
    "prompt.send", "previous_pane",
}  # fmt: skip
"""Actions that change only what is on the screen, or open another program in its place."""

_KEYS = (FILES_KEYS, LINES_KEYS, PROMPT_KEYS, STEPS_KEYS, STEP_KEYS, TABLE_KEYS)
_MOVES = {"earlier", "later", "down", "up", "first", "last", "page_down", "page_up"}
MOVING = {action.id for keys in _KEYS for action in keys}
MOVING |= {f"usage.{name}" for name, *_ in USAGE_KEYS if name in _MOVES}
"""The keys of lists and texts: they move, fold and write."""


def command(words):
    """The command of a verb, which may be a part of a group."""
    found: click.Command | None = cli
    for word in words:
        found = found.get_command(click.Context(found), word)
        assert found is not None, words
    return found


def test_every_action_has_a_verb_or_is_one_of_the_screen():
    named = VERBS.keys() | ONLY_ON_THE_SCREEN
    assert VERBS.keys() & ONLY_ON_THE_SCREEN == set()
    assert REGISTRY.keys() - named - MOVING == set(), "name its verb in VERBS, or name it in ONLY_ON_THE_SCREEN"
    assert named - REGISTRY.keys() == set()


def test_what_completion_offers_first_are_verbs():
    for name in VERBS_FIRST:
        command([name])


def test_an_action_that_changes_a_session_is_more_than_one_of_the_screen():
    assert {action.id for action in REGISTRY.values() if action.changes} <= VERBS.keys()


def test_the_verb_exists_and_prints_json():
    for action, verb in VERBS.items():
        words = verb.split()
        options = [word for word in words if word.startswith("--")]
        params = command([word for word in words if word not in options]).params
        assert any(param.name == "as_json" for param in params), action
        for option in options:
            assert any(option in param.opts for param in params), f"{action}: {verb}"


def test_a_verb_for_each_task_exists():
    for verb in ["spawn", "run", "tail", "queue", "interrupt", "approve", "deny", "events", "status", "schema"]:
        assert command([verb]).get_short_help_str(), verb
