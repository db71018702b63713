"""A preset fills in what a start leaves open."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.settings.sections import Preset, preset_named

REVIEW = Preset(
    agent="codex",
    model="gpt-5.5",
    cwd="~/code/api",
    prompt="Review {prompt}. Change nothing.",
    options={"sandbox": "read-only", "args": ["-x"]},
    limits=Limits(tokens=5),
    copies=3,
)


def test_the_preset_fills_what_the_start_leaves_open() -> None:
    start = REVIEW.completing(Start(prompt="the diff"), "scripted")
    assert start == Start(
        prompt="Review the diff. Change nothing.",
        agent="codex",
        model="gpt-5.5",
        cwd="~/code/api",
        options={"sandbox": "read-only", "args": ["-x"], "limits": {"tokens": 5}},
        copies=3,
    )


def test_what_the_start_says_wins() -> None:
    asked = Start(
        prompt="x", model="o3", cwd="/", options={"sandbox": "workspace-write", "limits": {"cost_usd": 1}}, copies=1
    )
    start = REVIEW.completing(asked, "scripted")
    assert (start.model, start.cwd, start.copies) == ("o3", "/", 1)
    assert start.options["sandbox"] == "workspace-write"
    assert start.options["limits"] == {"tokens": 5, "cost_usd": 1}


def test_another_agent_takes_neither_model_nor_options() -> None:
    start = REVIEW.completing(Start(prompt="x", agent="claude"), "codex")
    assert (start.agent, start.model, start.options) == ("claude", None, {"limits": {"tokens": 5}})
    assert Preset(model="m").completing(Start(prompt="x", agent="scripted"), "scripted").model == "m"


def test_a_text_comes_behind_where_it_has_no_place() -> None:
    plain = Preset(prompt="Fix the tests.\n")
    assert plain.prompt_with("Only the login.") == "Fix the tests.\n\nOnly the login."
    assert plain.completing(Start(prompt=""), "scripted").prompt == "Fix the tests."
    assert Preset().completing(Start(prompt="go"), "scripted").prompt == "go"


@pytest.mark.parametrize("preset", [REVIEW, Preset(), Preset(prompt=" ")])
def test_a_preset_that_says_nothing_by_itself_needs_a_text(preset: Preset) -> None:
    with pytest.raises(UsageError, match="needs a prompt"):
        preset.completing(Start(prompt=" "), "scripted")


@given(st.text(), st.text().filter(str.strip))
def test_the_text_is_in_the_prompt_as_it_stands(prompt: str, text: str) -> None:
    assert text in Preset(prompt=prompt).prompt_with(text)


def test_an_unknown_preset_names_those_there_are() -> None:
    assert preset_named({"a": REVIEW}, "a") is REVIEW
    with pytest.raises(UsageError, match=r"Unknown preset 'b'\. Known presets: a\."):
        preset_named({"a": REVIEW}, "b")
    with pytest.raises(UsageError, match="The settings have no presets"):
        preset_named({}, "b")
