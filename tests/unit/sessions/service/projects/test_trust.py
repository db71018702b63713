"""Trust in the contents of a project's file, and the settings that follow from it."""

import os
from pathlib import Path

import msgspec
import pytest

from agentdash.sessions.model.errors import AgentdashError, ConfigError, UsageError
from agentdash.sessions.runner.caller import Caller, Evidence
from agentdash.sessions.service.families.rights import Rights
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.projects.file import read
from agentdash.sessions.service.projects.review import review

from .conftest import Place

MODEL = '[agents.codex]\nmodel = "gpt-5"\n'


def model_of(place: Place) -> str | None:
    return place.settings().config.settings_for("codex", {}).model


def test_only_trusted_contents_are_in_force(place: Place) -> None:
    place.write(MODEL)
    assert model_of(place) is None
    [note] = place.settings().notes
    assert note == f"{place.file} is not trusted, so it is not in force. Review it: agentdash trust {place.root}"
    assert place.settings(later=True).notes == ()
    place.store.put(read(place.file))
    assert (model_of(place), place.settings().notes) == ("gpt-5", ())


def test_changed_contents_are_not_in_force_until_they_are_trusted_and_the_old_ones_are_again(place: Place) -> None:
    place.write(MODEL, trusted=True)
    place.write(MODEL.replace("gpt-5", "gpt-6"))
    assert model_of(place) is None
    for later in (False, True):
        assert "changed since you trusted it" in place.settings(later=later).notes[0]
    found = review(place.file, place.store, place.loaded())
    assert '-model = "gpt-5"\n+model = "gpt-6"\n' in found.diff
    place.write(MODEL)
    assert model_of(place) == "gpt-5"


def test_a_file_that_changes_between_the_review_and_the_trust_is_not_in_force(place: Place) -> None:
    place.write(MODEL)
    seen = review(place.file, place.store, place.loaded())
    place.write(MODEL.replace("gpt-5", "gpt-6"))
    assert seen.file is not None
    place.store.put(seen.file)
    assert model_of(place) is None
    place.write(MODEL)
    assert model_of(place) == "gpt-5"


def test_a_copy_of_trusted_contents_elsewhere_is_not_trusted(place: Place) -> None:
    place.write(MODEL, trusted=True)
    place.file.rename(place.folder / place.file.name)
    assert model_of(place) is None


def test_a_trusted_file_that_is_not_safe_any_longer_is_not_in_force(place: Place) -> None:
    place.write(MODEL, trusted=True)
    place.file.chmod(0o666)
    assert model_of(place) is None
    assert place.settings(later=True).notes == (f"{place.file} is not in force: all users can write it (chmod o-w).",)


def test_trusted_contents_that_the_users_own_settings_do_not_permit_later_are_not_in_force(place: Place) -> None:
    place.write('[agents.codex]\nsandbox = "workspace-write"\nmodel = "gpt-5"', trusted=True)
    assert model_of(place) == "gpt-5"
    place.own('[agents.codex]\nsandbox = "read-only"\n')
    assert place.settings().config == place.loaded().config
    [note] = place.settings().notes
    assert note.startswith(f"{place.file}:2: agents.codex.sandbox: workspace-write is wider than read-only")


def test_the_records_are_private_and_keep_the_contents(place: Place) -> None:
    place.write(MODEL, trusted=True)
    [record] = (place.home / "trust").iterdir()
    assert record.stat().st_mode & 0o777 == 0o600
    assert record.parent.stat().st_mode & 0o777 == 0o700
    kept = place.store.get(place.file)
    assert kept is not None
    assert (kept.content, kept.path) == (MODEL, str(place.file))


@pytest.mark.parametrize("damage", ["{", "[]", '{"path": 3}', "", "\xff"])
def test_a_damaged_record_trusts_nothing(place: Place, damage: str) -> None:
    place.write(MODEL, trusted=True)
    [record] = (place.home / "trust").iterdir()
    record.write_text(damage, encoding="latin-1")
    assert model_of(place) is None
    assert place.store.all() == []


@pytest.mark.parametrize("change", [{"content": "x"}, {"sha256": "0" * 64}, {"path": "/elsewhere/.agentdash.toml"}])
def test_a_record_that_was_changed_trusts_nothing(place: Place, change: dict[str, str]) -> None:
    place.write(MODEL, trusted=True)
    [record] = (place.home / "trust").iterdir()
    record.write_bytes(msgspec.json.encode(msgspec.json.decode(record.read_bytes()) | change))
    assert model_of(place) is None
    assert place.store.all() == []


def test_the_users_own_settings_can_turn_projects_off(place: Place) -> None:
    place.write(MODEL, trusted=True)
    place.own("[projects]\nread = false\n")
    assert (model_of(place), place.settings().notes) == (None, ())


@pytest.fixture
def manager(place: Place) -> SessionManager:
    return SessionManager(place.home, place.own_file)


def test_a_project_is_trusted_listed_and_forgotten(place: Place, manager: SessionManager) -> None:
    with manager:
        place.write(MODEL)
        seen = manager.reader.settings.project_of(str(place.folder))
        assert seen is not None
        assert manager.projects.trust(seen).state == "trusted"
        assert [(one.path, state) for one, state in manager.projects.trusted()] == [(str(place.file), "trusted")]
        place.file.unlink()
        assert [state for _, state in manager.projects.trusted()] == ["gone"]
        assert manager.projects.forget(str(place.root)) == place.file
        assert manager.projects.trusted() == []
        with pytest.raises(AgentdashError, match="has no trusted settings"):
            manager.projects.forget(str(place.root))


@pytest.mark.parametrize("name", ["src", ".", ".agentdash.toml"])
def test_forget_takes_the_file_or_a_folder_of_the_project(place: Place, manager: SessionManager, name: str) -> None:
    with manager:
        place.write(MODEL, trusted=True)
        assert manager.projects.forget(str(place.root / name)) == place.file


@pytest.mark.parametrize("evidence", ["environment", "ancestor", "lead key", "client", "elsewhere", "namespace"])
def test_an_agent_cannot_change_what_is_trusted(place: Place, manager: SessionManager, evidence: Evidence) -> None:
    with manager:
        place.write(MODEL)
        seen = manager.reader.settings.project_of(str(place.folder))
        assert seen is not None
        manager.projects.rights = Rights(Caller(evidence=evidence))
        with pytest.raises(UsageError, match="An agent cannot change"):
            manager.projects.trust(seen)
        with pytest.raises(UsageError, match="An agent cannot change"):
            manager.projects.forget(str(place.root))
        assert manager.projects.trusted() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[agents.codex]\nbin = 'x'", ":2: agents.codex.bin: A project cannot set it."),
        ("\n\na = = 1", ":3: a: Invalid value"),
        ("[limits]\ntokens = 'x'", ":2: limits.tokens: Expected int"),
        ("[agents.codex]\nsandbxo = 'x'", ":2: agents.codex.sandbxo: Unknown key."),
        ("[agents.nope]", "Unknown agent 'nope'"),
        ("#\n\xe4", ":2: the file is not UTF-8 text."),
        ("x = " + "[" * 20_000, ":1: "),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_line(
    place: Place, manager: SessionManager, text: str, message: str
) -> None:
    with manager:
        place.file.write_bytes(text.encode("latin-1"))
        place.file.chmod(0o600)
        seen = manager.reader.settings.project_of(str(place.folder))
        assert seen is not None
        assert seen.state == "refused"
        with pytest.raises(UsageError) as refused:
            manager.projects.trust(seen)
        assert f"{place.file}" in str(refused.value)
        assert message in str(refused.value)
        assert manager.projects.trusted() == []


def test_every_refused_key_is_listed_in_the_order_of_the_lines(place: Place) -> None:
    place.write("[hooks]\n[agents.codex]\nfull_danger = true\nbin = 'x'\n[notify]\n")
    found = review(place.file, place.store, place.loaded())
    lines = [line.removeprefix(f"{place.file}:").split(": ")[:2] for line in found.why.splitlines()]
    assert lines == [["1", "hooks"], ["3", "agents.codex.full_danger"], ["4", "agents.codex.bin"], ["5", "notify"]]


def test_a_gone_current_folder_has_no_project(place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from agentdash.sessions.service.projects.review import project_of

    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert project_of(place.loaded(), "", place.home) is None
    assert project_of(place.loaded(), "a\0b", place.home) is None
    assert project_of(place.loaded(), os.fsdecode(b"/\xff/x"), place.home) is None


def test_the_state_of_broken_own_settings_is_an_error_of_theirs(place: Place) -> None:
    place.write(MODEL, trusted=True)
    place.own("[")
    with pytest.raises(ConfigError, match=r"config\.toml"):
        place.settings()


def hide(place: Place, how: str) -> None:
    """What an agent can do that works in the folder of a project."""
    if how == "a change":
        place.write("# nothing")
    elif how == "no file":
        place.file.unlink()
    elif how == "a repository":
        (place.folder / ".git").mkdir()
    elif how == "a nearer file":
        (place.folder / ".agentdash.toml").write_text("")
    else:
        place.file.unlink()
        place.file.symlink_to("/dev/null")


@pytest.mark.parametrize("how", ["a change", "no file", "a repository", "a nearer file", "a link"])
def test_no_agent_lifts_the_limits_of_a_trusted_project(place: Place, how: str) -> None:
    place.write("[limits]\ntokens = 1000\n", trusted=True)
    with SessionManager(place.home, place.own_file, Caller(evidence="client", lead="mcp:1")) as agent:
        assert agent.reader.settings.in_folder(str(place.folder)).notes == ()
        hide(place, how)
        loaded = agent.reader.settings.in_folder(str(place.folder), later=True)
        assert loaded.config.limits.tokens == 1000
        assert [note.partition(" is ")[0] for note in loaded.notes] == [str(place.file)]
    with SessionManager(place.home, place.own_file, Caller()) as user:
        assert user.reader.settings.in_folder(str(place.folder)).config.limits.tokens is None
        user.projects.forget(str(place.file))
    with SessionManager(place.home, place.own_file, Caller(evidence="client", lead="mcp:1")) as agent:
        assert agent.reader.settings.in_folder(str(place.folder)).config.limits.tokens is None


def test_the_trusted_settings_of_one_project_are_not_those_of_another(place: Place) -> None:
    place.write("[limits]\ntokens = 1000\n", trusted=True)
    place.write("")
    with SessionManager(place.home, place.own_file, Caller(evidence="client", lead="mcp:1")) as agent:
        assert agent.reader.settings.in_folder(str(place.home)).config.limits.tokens is None
