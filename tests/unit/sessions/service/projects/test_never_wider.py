"""No file of a project yields a launch with wider permissions, higher limits or another program than the user's own."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from repetition import repeated

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.service.lifecycle.starts.launch_plan import build_launch, completed
from agentdash.sessions.service.projects.file import NAME, read
from agentdash.sessions.service.projects.review import in_folder
from agentdash.sessions.service.projects.trust import TrustStore
from agentdash.sessions.settings.catalog import Setting, settings
from agentdash.sessions.settings.config import Loaded, read_settings
from agentdash.sessions.settings.toml_keys import merged

ALL = [one for one in settings() if one.path[0] not in ("profiles", "keys", "asks")]
OWN = [one for one in ALL if one.path[:2] != ("projects", "allow")]
USUAL = [one for one in ALL if one.path[0] in ("default_agent", "agents", "limits", "presets")]
BY_NAME: dict[str, list[Setting]] = {}
"""The settings of these tables by their own names: ``tokens`` of [limits], of each agent, of presets."""
for setting in USUAL:
    BY_NAME.setdefault(setting.path[-1], []).append(setting)
NUMBERS = ("wall_seconds", "silence_seconds", "output_mb", "tokens", "cost_usd")
TEXTS = ["opus", "gpt-5", "x", "--yolo", "-", "/bin/sh", "codex", "claude", "acceptEdits", "Bash"]

SANDBOXES = ["read-only", "workspace-write", "danger-full-access", "no-sandbox"]
MODES = {
    "plan": {"plan"},
    "dontAsk": {"dontAsk"},
    "default": {"plan", "dontAsk", "default"},
    "acceptEdits": {"plan", "dontAsk", "default", "acceptEdits"},
    "auto": {"plan", "dontAsk", "default", "auto"},
    "bypassPermissions": {"plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions"},
    "no-checks": {"plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions", "no-checks"},
}


def values(one: Setting) -> st.SearchStrategy[Any]:
    if one.path[-1] == "config":
        return st.sampled_from([{}, {"model_reasoning_effort": "high"}, {"notify": ["sh"]}])
    if one.path[-1] == "options":
        return section(st.sampled_from(["codex", "claude"]))
    if one.kind.startswith("list of"):
        pool = one.choices or TEXTS
        return st.lists(st.sampled_from(pool), max_size=2)
    if one.choices:
        return st.sampled_from([value == "true" if "true" in one.choices else value for value in one.choices])
    if one.kind.startswith("whole"):
        return st.integers(1, 9)
    if one.kind.startswith("number"):
        return st.floats(1, 9, allow_nan=False)
    return st.sampled_from(TEXTS)


def table(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    return {path[0]: table(path[1:], value) if path[1:] else value}


def named(path: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    names = st.sampled_from(["one", "two"])
    return names.map(lambda name: tuple(name if part == "NAME" else part for part in path))


@st.composite
def tables(draw: st.DrawFn, pool: list[Setting], most: int) -> dict[str, Any]:
    """Tables with a few settings of the catalog."""
    found: dict[str, Any] = {}
    for one in draw(st.lists(st.sampled_from(pool), max_size=most)):
        found = merged(found, table(draw(named(one.path)), draw(values(one))))
    return found


@st.composite
def both(draw: st.DrawFn, first: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The user's own tables and those of a project, with the setting of a name and a few others in both."""
    own, project = draw(tables(OWN, 2)), draw(tables(ALL, 1)) if draw(st.integers(0, 9)) == 0 else {}
    for name in [first, *draw(st.lists(st.sampled_from(sorted(BY_NAME)), max_size=1))]:
        one = draw(st.sampled_from(BY_NAME[name]))
        path = draw(named(one.path))
        if draw(st.booleans()):
            own = merged(own, table(path, draw(values(one))))
        project = merged(project, table(path, draw(values(one))))
        if draw(st.booleans()) and path[0] == "agents" and path[1] in ("codex", "claude"):
            options = table(path[2:], draw(values(one)))
            project = merged(project, {"presets": {"three": {"agent": path[1], "options": options}}})
    return own, project


@st.composite
def section(draw: st.DrawFn, agents: st.SearchStrategy[str]) -> dict[str, Any]:
    """The keys of an agent's section."""
    name = draw(agents)
    pool = [one for one in ALL if one.path[:2] == ("agents", name) and one.path[-1] not in ("options",)]
    found: dict[str, Any] = {}
    for one in draw(st.lists(st.sampled_from(pool), max_size=2)):
        found = merged(found, table(one.path[2:], draw(values(one))))
    return found


def launched(loaded: Loaded, agent: str, preset: str, folder: Path) -> Launch | None:
    start = Start("go", agent=agent, cwd=str(folder), session_id="12345678-1234-1234-1234-123456789abc")
    try:
        if preset:
            start = loaded.config.presets[preset].completing(start, loaded.config.default_agent)
        return build_launch(loaded.config, completed(structs.replace(start, cwd=str(folder)), loaded.config))
    except AgentdashError:
        return None


def modes_within(agent: str, mode: str) -> set[str]:
    return MODES[mode] if agent == "claude" else set(SANDBOXES[: SANDBOXES.index(mode) + 1])


def effective_limits(limits: Limits) -> Mapping[str, float]:
    return {key: getattr(limits, key) or float("inf") for key in NUMBERS}


def check_not_wider(agent: str, own: Launch, with_project: Launch) -> None:
    assert with_project.argv[0] == own.argv[0]
    assert with_project.env.items() <= own.env.items()  # a claude that asks nothing needs no variable
    assert with_project.mode is not None
    assert own.mode is not None
    assert with_project.mode.permissions in modes_within(agent, str(own.mode.permissions))
    assert with_project.mode.args == own.mode.args
    assert set(with_project.mode.allowed_tools) <= set(own.mode.allowed_tools)
    assert with_project.mode.search in (own.mode.search, False)
    theirs, mine = effective_limits(with_project.limits), effective_limits(own.limits)
    assert all(theirs[key] <= mine[key] for key in NUMBERS), (theirs, mine)
    assert with_project.limits.stops or not own.limits.stops
    for key in ("ladder", "after_turn", "hook", "asks", "warm", "attention"):
        assert getattr(with_project, key) == getattr(own, key), key
    for key, narrow in (("approvals", "deny"), ("live", False)):
        assert with_project.settings[key] in (own.settings[key], narrow)
    assert with_project.settings.get("config") == own.settings.get("config")
    assert with_project.settings["bin"] == own.settings["bin"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("wider") / "repository"
    (root / ".git").mkdir(parents=True)
    return root


@hypothesis.settings(max_examples=repeated(25, 400))
@pytest.mark.parametrize("name", sorted(BY_NAME))
@given(data=st.data())
def test_no_project_widens_a_launch(folder: Path, name: str, data: st.DataObject) -> None:
    own, project = data.draw(both(name))
    home, config = folder.parent / "state", folder.parent / "config.toml"
    config.write_text(tomli_w.dumps(own))
    path = folder / NAME
    path.write_text(tomli_w.dumps(project))
    path.chmod(0o600)
    TrustStore(home).put(read(path))  # whatever is in it
    try:
        mine = read_settings(config, "")
    except AgentdashError:
        hypothesis.reject()
    loaded = in_folder(mine, os.fspath(folder), home)
    hypothesis.event("in force" if loaded.project else "not in force")
    assert loaded.config.projects == mine.config.projects
    assert loaded.config.queue == mine.config.queue
    for agent in ("codex", "claude"):
        for preset in ("", *loaded.config.presets):
            kept = preset if preset in mine.config.presets else ""
            before = launched(mine, agent, kept, folder)
            after = launched(loaded, agent, preset, folder)
            if before is not None and after is not None:
                check_not_wider(agent, before, after)
    for preset in set(loaded.config.presets) - set(mine.config.presets):
        assert loaded.config.presets[preset].copies == 1
        assert loaded.config.presets[preset].cwd is None


@hypothesis.settings(max_examples=60)
@given(data=st.binary(max_size=200))
def test_no_bytes_of_a_file_break_a_start(folder: Path, data: bytes) -> None:
    home, config = folder.parent / "state", folder.parent / "none.toml"
    path = folder / NAME
    path.write_bytes(data)
    path.chmod(0o600)
    if data.decode("utf-8", "ignore").encode() == data:
        TrustStore(home).put(read(path))
    loaded = in_folder(read_settings(config, ""), os.fspath(folder), home)
    assert loaded.project is not None or len(loaded.notes) == 1
