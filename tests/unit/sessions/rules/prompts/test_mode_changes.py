"""The settings that changed from turn to turn, in words."""

from typing import Any

import factories
import pytest
from hostile_text import nasty
from hypothesis import given

from agentdash.sessions.model.session import TurnMode
from agentdash.sessions.rules.prompts.mode_changes import changes_by_turn, line_of
from agentdash.sessions.text.sanitize import UNSAFE


def mode(permissions: str | None = "workspace-write", /, **own: Any) -> TurnMode:
    dangerous = permissions in ("danger-full-access", "no-sandbox")
    given_ = {"setting": "sandbox", "default": "workspace-write", "dangerous": dangerous} | own
    return TurnMode(permissions=permissions, **given_)


def lines(*modes: TurnMode | None) -> dict[int, str]:
    turns = [factories.turn(n, mode=one) for n, one in enumerate(modes, 1)]
    return {n: line_of(changes) for n, changes in changes_by_turn(turns).items()}


def test_a_turn_that_runs_as_the_one_before_has_none() -> None:
    assert lines(mode(), mode(), mode()) == {}
    assert lines(mode("read-only"), mode("read-only")) == {1: "sandbox: read-only"}


def test_other_permissions_are_named_with_the_former_ones() -> None:
    assert lines(mode("read-only"), mode()) == {
        1: "sandbox: read-only",
        2: "sandbox: workspace-write (was read-only)",
    }
    claude = {"setting": "permission_mode", "default": "acceptEdits"}
    assert lines(mode("acceptEdits", **claude), mode("plan", **claude)) == {
        2: "permission mode: plan (was acceptEdits)"
    }


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ({}, {"search": True}, "search: on (was default)"),
        ({"search": True}, {"search": False}, "search: off (was on)"),
        ({"model": "opus"}, {}, "model: default (was opus)"),
        ({}, {"allowed_tools": ("Bash", "Write")}, "allowed tools: Bash Write (was none)"),
        ({"args": ("--add-dir", "/d")}, {}, "arguments: none (was --add-dir /d)"),
        ({}, {"instructions": "Be brief."}, "instructions added"),
        ({"instructions": "Be brief."}, {"instructions": "Be thorough."}, "instructions changed"),
        ({"instructions": "Be brief."}, {"instructions": ""}, "instructions removed"),
        ({}, {"search": True, "model": "m"}, "model: m (was default) · search: on (was default)"),
    ],
)
def test_each_changed_setting_is_named(first: dict[str, Any], second: dict[str, Any], words: str) -> None:
    assert lines(mode(**first), mode(**second))[2] == words


def test_the_first_turn_names_what_differs_from_the_defaults_of_the_agent() -> None:
    given_ = {"search": True, "allowed_tools": ("Bash",), "instructions": "Be brief.\nAlways."}
    words = "sandbox: read-only · search: on · allowed tools: Bash · instructions: Be brief. Always."
    assert lines(mode("read-only", **given_)) == {1: words}
    assert lines(mode(model="gpt-5.5")) == {}, "the headline names the model"


def test_dangerous_permissions_are_named_in_the_first_turn_even_if_they_are_the_default() -> None:
    assert lines(mode("danger-full-access", default="danger-full-access")) == {1: "sandbox: danger-full-access"}


def test_only_changed_permissions_that_do_not_limit_the_agent_are_dangerous() -> None:
    turns = [factories.turn(n, mode=one) for n, one in enumerate([mode(), mode("no-sandbox", search=True), mode()], 1)]
    found = {n: [change.dangerous for change in changes] for n, changes in changes_by_turn(turns).items()}
    assert found == {2: [True, False], 3: [False, False]}


def test_a_turn_without_a_record_has_none_and_the_next_is_compared_with_the_defaults() -> None:
    assert lines(None, mode("read-only"), None, mode()) == {2: "sandbox: read-only"}


@given(nasty)
def test_no_text_can_leave_its_line(text: str) -> None:
    odd = mode(text, model=text, args=(text,), allowed_tools=(text,), instructions=text, setting=text)
    line = lines(odd, mode(), odd)
    assert all(not UNSAFE.search(one) and "\n" not in one for one in line.values())
