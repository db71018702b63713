"""Every setting is listed, described, documented, and can be written as the list says."""

import tomllib
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.agents.registry import agent_names
from agentdash.sessions.model.errors import ConfigError, UsageError
from agentdash.sessions.settings.catalog import VARIABLES, Setting, setting_named, settings
from agentdash.sessions.settings.catalog_texts import first_file
from agentdash.sessions.settings.config import as_toml, in_force, load_config, read_settings
from agentdash.sessions.settings.effective import held
from agentdash.sessions.settings.place import config_path
from agentdash.sessions.settings.toml_keys import dotted, parts, place_of

ALL = list(settings())
PRESENT = [one for one in ALL if one.path[0] != "profiles"]


def table(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Nested tables with one value in them."""
    return {path[0]: table(path[1:], value) if path[1:] else value}


def test_every_setting_says_what_it_does() -> None:
    for one in [*ALL, *VARIABLES]:
        assert one.description.endswith("."), f"{one.key}: give it Meta(description=...)"
        assert one.kind, one.key


def test_no_setting_of_the_file_is_left_out(tmp_path: Path) -> None:
    config = in_force(load_config(tmp_path / "none.toml"))

    def leaves(value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                yield from leaves(inner, (*path, key))
        else:
            yield path

    listed = {one.path for one in settings()}
    stated = set(leaves(tomllib.loads(as_toml(config)), ()))
    assert stated <= listed
    assert {path[1] for path in listed if path[0] == "agents"} == set(agent_names())


def samples(one: Setting) -> st.SearchStrategy[Any]:
    if one.kind.startswith("list of"):
        return st.just(list(one.sample))
    if one.choices:
        return st.sampled_from([value == "true" if "true" in one.choices else value for value in one.choices])
    if one.kind.startswith("number"):
        return st.floats(1, 500, allow_nan=False)
    if one.kind.startswith("whole"):
        return st.integers(2, 100)
    return st.just(one.sample)


@hypothesis.settings(deadline=None)
@given(st.data())
def test_what_the_list_says_can_be_loaded_and_comes_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    one = data.draw(st.sampled_from([one for one in PRESENT if one.key != "default_agent"]))
    value = data.draw(samples(one))
    path = tmp_path_factory.mktemp("settings") / "config.toml"
    place = tuple(
        "~/NAME" if before == "folders" else part for before, part in zip(("", *one.path[:-1]), one.path, strict=True)
    )
    path.write_text(tomli_w.dumps(table(place, value)), encoding="utf-8")
    loaded = read_settings(path, "")
    [found] = [each for each in held(loaded, {}) if each.setting.path == place]
    assert (list(found.value) if isinstance(found.value, tuple) else found.value) == value
    assert found.origin.kind == "file"
    path.write_text(as_toml(loaded.config), encoding="utf-8")
    assert load_config(path, "") == loaded.config


def test_each_example_of_the_first_file_can_be_used(tmp_path: Path) -> None:
    """Take the comment away from the key and, where need be, from its table."""
    whole = first_file()
    for one in PRESENT:
        lines = whole.split("\n")
        at = place_of(whole, one.path) - 1
        if one.path[2:-1] or one.key == "default_agent":
            continue  # told in a sentence, or set already
        assert lines[at].startswith(f"# {one.path[-1]} = "), one.key
        lines[at] = lines[at].removeprefix("# ")
        header = f"[{one.section}]"
        path = tmp_path / "config.toml"
        path.write_text("\n".join(header if line == f"# {header}" else line for line in lines), encoding="utf-8")
        [found] = [each for each in held(read_settings(path, "")) if each.setting.path == one.path]
        assert found.origin.line == at + 1, one.key


def test_the_first_file_as_it_is_changes_nothing_but_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "config.toml"
    path.write_text(first_file(), encoding="utf-8")
    assert in_force(load_config(path)) == in_force(load_config(tmp_path / "none.toml"))


def test_an_unknown_key_names_what_is_near() -> None:
    assert setting_named("presets.mine.prompt").description.startswith("Prompt; the text given")
    with pytest.raises(
        UsageError, match=r"Unknown setting 'stop\.intrrupt_seconds'. Did you mean stop\.interrupt_seconds"
    ):
        setting_named("stop.intrrupt_seconds")


@given(st.lists(st.text("ab-_. é", min_size=1), min_size=1, max_size=4))
def test_a_dotted_key_comes_back_in_its_parts(path: list[str]) -> None:
    assert parts(dotted(tuple(path))) == tuple(path)


def test_a_setting_that_is_missing_belongs_behind_its_table() -> None:
    text = 'default_agent = "scripted"\n[stop]\nafter_turn = "keep"\n[limits]\n# tokens = 5\n'
    assert place_of(text, ("stop", "after_turn")) == 3
    assert place_of(text, ("stop", "interrupt_seconds")) == 3
    assert place_of(text, ("limits", "tokens")) == 5
    assert place_of(text, ("dashboard", "theme")) == 5
    assert place_of(text, ("other",)) == 1
    assert place_of("", ("dashboard", "theme")) == 1


PROFILES = """\
[stop]
interrupt_seconds = 1
[profiles.work.stop]
interrupt_seconds = 2
[profiles.work.agents.codex]
sandbox = "read-only"
[profiles."at home"]
default_agent = "claude"
"""


def test_a_profile_is_laid_over_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    path.write_text(PROFILES + "[limits]\ntokens = 7\n", encoding="utf-8")
    assert load_config(path).stop.interrupt_seconds == 1
    work = load_config(path, "work")
    assert (work.stop.interrupt_seconds, work.limits.tokens) == (2, 7)
    assert work.settings_for("codex", {}).sandbox == "read-only"  # type: ignore[attr-defined]
    monkeypatch.setenv("AGENTDASH_PROFILE", "at home")
    assert load_config(path).default_agent == "claude"
    assert load_config(path, "").default_agent == "codex"
    origins = {one.setting.key: str(one.origin) for one in held(read_settings(path, "work"), {})}
    assert origins["stop.interrupt_seconds"] == "config.toml:4 (profile work)"
    assert origins["agents.claude.stop.interrupt_seconds"] == "config.toml:4 (profile work)"
    assert origins["limits.tokens"] == "config.toml:10"
    assert origins["dashboard.theme"] == "default"
    assert origins["AGENTDASH_PROFILE"] == "default"
    assert origins["profiles.work"] == "config.toml:3"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[profiles.a.stop]\nwait = 1\n", "config.toml:2: profiles.a.stop.wait: Unknown key."),
        ("[profiles.a.agents.codex]\n\nsandbox = 1\n", "config.toml:3: profiles.a.agents.codex.sandbox: "),
        ('[profiles.a]\ndefault_agent = "hal"\n', "config.toml:2: profiles.a.default_agent: Unknown agent 'hal'"),
        ("[profiles]\na = 3\n", "config.toml:2: profiles.a: Expected object, got int."),
        ("[profiles.a.profiles.b]\n", "config.toml:1: profiles.a.profiles: A profile cannot contain profiles."),
        ("[presets.a]\ncopies = 0\n", "config.toml:2: presets.a.copies: Expected int >= 1."),
        ('[presets.a]\nagent = "hal"\n', "config.toml:2: presets.a.agent: Unknown agent 'hal'"),
        (
            '[presets.a]\nagent = "claude"\n[presets.a.options]\nsandbox = "x"\n',
            "config.toml:4: presets.a.options.sandbox: Unknown key.",
        ),
        ('[dashboard]\ntheme = "pink"\n', "config.toml:2: dashboard.theme: Invalid enum value 'pink'. Choose one of: "),
        ('[stop]\nafter_turn = "x"\n', "Choose one of: keep, sweep."),
    ],
)
def test_what_is_wrong_in_a_profile_or_a_preset_is_found(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert complaint in str(caught.value)


def test_an_unknown_profile_names_those_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTDASH_PROFILE", "hom")
    with pytest.raises(ConfigError, match=r"Unknown profile 'hom'\. The file has no profiles."):
        load_config(config_path())
    config_path().write_text(PROFILES, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"Unknown profile 'hom'\. Known profiles: work, at home\."):
        load_config()
