"""Templates of prompts: the fields that they may have, and braces that are text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.errors import ConfigError, UsageError
from agentdash.sessions.settings.config import load_config
from agentdash.sessions.settings.sections import FIELDS, PromptTemplate, template_named, unusable_field


def filled(text, **values):
    return PromptTemplate(text=text).filled(values.__getitem__)


def refused(path, text):
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        load_config(path)
    return str(raised.value)


def test_fields_are_filled_and_escaped_braces_are_text():
    assert filled("{id} in {cwd}: {{id}} {{}} }", id="ab", cwd="/x") == "ab in /x: {id} {} }"


def test_a_value_is_never_searched_for_fields():
    assert filled("{title}", title="{cwd} {{") == "{cwd} {{"


@given(st.text())
def test_a_text_whose_braces_are_escaped_comes_back(text):
    assert filled(text.replace("{", "{{").replace("}", "}}")) == text


@given(st.text(alphabet="{}ab_ idcwd", max_size=30))
def test_a_text_is_refused_or_has_known_fields_only(text):
    if unusable_field(text) is None:
        assert PromptTemplate(text=text).fields <= FIELDS.keys()
        PromptTemplate(text=text).filled(lambda _: "x")


@pytest.mark.parametrize("field", ["{nope}", "{cwd", "{}", "{ cwd }", "{cwd!r}"])
def test_an_unknown_field_names_file_line_template_and_field(tmp_path, field):
    path = tmp_path / "config.toml"
    told = refused(path, f'default_agent = "codex"\n[templates.review]\ntext = "Do {field}"\n')
    assert told.startswith(f"{path}:3: templates.review.text: Unknown field {field}. Fields: {{agent}}, {{branch}},")


def test_other_mistakes_name_their_key(tmp_path):
    path = tmp_path / "config.toml"
    assert "templates.a.text: Expected str, got int." in refused(path, "[templates.a]\ntext = 1\n")
    assert "templates.a.txt: Unknown key. Known keys: text, description." in refused(
        path, '[templates.a]\ntext = "x"\ntxt = "y"\n'
    )
    in_profile = refused(path, '[profiles.work.templates.a]\ntext = "{nope}"\n')
    assert ":2: profiles.work.templates.a.text: Unknown field {nope}." in in_profile


def test_a_template_is_found_by_its_name(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('[templates.review]\ntext = "Review {branch}"\ndescription = "the whole branch"\n')
    templates = load_config(path).templates
    assert template_named(templates, "review").fields == {"branch"}
    with pytest.raises(UsageError, match=r"Unknown template 'revue'\. Known templates: review\."):
        template_named(templates, "revue")
    with pytest.raises(UsageError, match=r"Template empty has no text\."):
        template_named({"empty": PromptTemplate(text=" ")}, "empty")
    with pytest.raises(UsageError, match=r"The settings have no templates\."):
        template_named({}, "review")
