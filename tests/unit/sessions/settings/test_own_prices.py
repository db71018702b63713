"""Prices in the settings that price nothing: an error with file, line and key."""

import json

import pytest

from agentdash.sessions.doctor.files import settings_file
from agentdash.sessions.doctor.model import Subject
from agentdash.sessions.model.errors import ConfigError
from agentdash.sessions.settings.config import load_config, read_settings
from agentdash.sessions.settings.prices import check_prices, import_prices
from agentdash.sessions.storage.paths import Layout
from agentdash.tui.cli.main import run


@pytest.fixture
def settings(tmp_path, monkeypatch):
    path = tmp_path / "config.toml"
    monkeypatch.setenv("AGENTDASH_CONFIG", str(path))

    def written(text):
        path.write_text(text)
        return path

    return written


@pytest.mark.parametrize(
    ("text", "place", "field"),
    [
        ('[prices."my-model"]\ninput = 1.0\n', "1: prices.my-model", "output"),
        ('default_agent = "codex"\n[prices."my-*"]\noutput = 1.0\n', "2: prices.my-*", "input"),
        ('[prices."gpt-5.5-pro"]\ncache_write = 1.0\n', "1: prices.gpt-5.5-pro", "input"),
    ],
)
def test_half_a_price_of_an_unknown_model_is_an_error(settings, text, place, field):
    path = settings(text)
    with pytest.raises(ConfigError) as error:
        check_prices(read_settings(path))
    assert load_config(path).prices
    assert str(error.value).startswith(f"{path}:{place}: {field} is missing. ")


@pytest.mark.parametrize(
    "text",
    [
        '[prices."claude-opus-*"]\ninput = 9.0\n',
        '[prices."openai/gpt-5.5"]\noutput = 9.0\n',
        '[prices."my-*"]\ninput = 9.0\n[prices."my-model"]\noutput = 1.0\n',
        '[prices."my-*"]\ninput = 9.0\n[prices."my-big-*"]\noutput = 1.0\n',
    ],
)
def test_a_part_is_enough_if_the_rest_is_known(settings, text):
    check_prices(read_settings(settings(text)))


def test_an_imported_price_has_the_rest(settings, tmp_path):
    path = settings('[prices."gpt-9"]\ninput = 3.0\n')
    with pytest.raises(ConfigError):
        check_prices(read_settings(path))
    (tmp_path / "m.json").write_text(json.dumps({"openai": {"models": {"gpt-9": {"cost": {"input": 1, "output": 4}}}}}))
    import_prices(tmp_path / "m.json")
    check_prices(read_settings(path))


def test_a_profile_is_checked_with_the_rest_of_the_file(settings):
    path = settings("[prices.m]\ninput = 1.0\noutput = 2.0\n[profiles.p.prices.n]\noutput = 2.0\n")
    with pytest.raises(ConfigError, match=r":4: profiles\.p\.prices\.n: input is missing.*under the profile p"):
        check_prices(read_settings(path))


def test_config_check_and_doctor_name_it(settings, tmp_path, capsys):
    path = settings("[prices.m]\ninput = 1.0\n")
    assert run(["config", "check"]) == 2
    assert f"{path}:1: prices.m: output is missing." in capsys.readouterr().err
    (finding,) = settings_file(Subject(layout=Layout(tmp_path / "home"), config_path=path, env={}, user="u"))
    assert (finding.state, "prices.m: output" in finding.found) == ("warn", True)
