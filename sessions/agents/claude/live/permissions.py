"""The permissions that claude suggests with an ask, for the rest of the session (2.1.197 and 2.1.330).  Pure.

claude suggests most rules for a settings file in the project.  2.1.197 then writes that file and asks again in the next
turn.  Every suggestion is therefore taken for the session only: an ``always`` changes no file of the user.
"""

from typing import Any

from msgspec import Raw

from ....text.units import listed
from ...parsing.json_lines import value_of
from ..tools import text_in

_VERBS = {"allow": "allow", "deny": "deny", "ask": "ask about"}


def always(suggestions: Raw) -> str:
    """Return what an ``always`` covers: ``allow Bash(git push) for this session``; empty if nothing."""
    words = ", and ".join(_change(text_in(entry.get("type")), entry) for entry in for_session(suggestions))
    return f"{words} for this session" if words else ""


def for_session(suggestions: Raw) -> list[dict[str, Any]]:
    """Return the suggestions as changes of this session's permissions alone."""
    entries = value_of(suggestions)
    if not isinstance(entries, list):
        return []
    return [{**entry, "destination": "session"} for entry in entries if isinstance(entry, dict)]


def _change(kind: str, entry: dict[str, Any]) -> str:
    if kind == "setMode":
        return f"permission mode {text_in(entry.get('mode'))}"
    if kind in ("addDirectories", "removeDirectories"):
        verb = "work in" if kind == "addDirectories" else "no more work in"
        return f"{verb} {_names(entry.get('directories'))}"
    rules = entry.get("rules")
    named = _names([_rule(rule) for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else None)
    behavior = text_in(entry.get("behavior"))
    verb = _VERBS.get(behavior, behavior)
    if kind == "addRules":
        return f"{verb} {named}"
    return f"{'remove the rule' if kind == 'removeRules' else 'replace the rules:'} {verb} {named}"


def _rule(rule: dict[str, Any]) -> str:
    tool, content = text_in(rule.get("toolName")), text_in(rule.get("ruleContent"))
    return f"{tool}({content})" if content else tool


def _names(values: Any) -> str:
    return listed([text_in(value) for value in values]) if isinstance(values, list) and values else "nothing"
