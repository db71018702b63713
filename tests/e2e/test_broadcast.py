"""One prompt to several sessions through their queues, templates, and prompts that are found again."""

import json
import subprocess
import sys

import pytest
from verbs import verb

from agentdash.sessions.rules.launch import Start

pytestmark = pytest.mark.usefixtures("scripted_agent")

CONFIG = """
default_agent = "scripted"
[agents.scripted]
speed = 100.0
script = "quick"
[queue]
max_running = 20
[templates.where]
text = "You ({agent} {id}) work in {cwd} on {title}: {{not a field}}"
description = "the place"
[templates.quote]
text = "You said: {last_message}"
[templates.branch]
text = "Rebase {branch}"
"""


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """The settings file, with three templates."""
    path = tmp_path / "config.toml"
    path.write_text(CONFIG)
    monkeypatch.setenv("AGENTDASH_CONFIG", str(path))
    return path


@pytest.fixture
def sessions(manager, settings):
    """Start sessions of the scripted agent and wait for their ends."""

    def start(*titles):
        begun = [manager.spawn(Start(f"begin {title}", agent="scripted", title=title)) for title in titles]
        return manager.wait([one.id for one in begun], timeout=120)

    return start


def array(done):
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def prompts_of(manager, session):
    return [prompt.text for prompt in manager.reader.prompts(session.id)]


@pytest.mark.smoke
def test_twelve_sessions_get_one_prompt_once_however_often_it_is_repeated(manager, sessions):
    twelve = sessions(*(f"number {n}" for n in range(12)))
    ids = [one.id for one in twelve]
    text = 'fix "{}" and {cwd}'
    done = verb("inject", *ids, text, "--key", "mine", "--wait", "--json")
    assert done.returncode == 0, done.stderr
    told = array(done)
    assert [one["id"] for one in told] == ids
    assert {one["prompt"]["key"] for one in told} == {"mine"}
    assert {(one["status"], one["turn"], one["error"]) for one in told} == {("done", 2, None)}
    again = array(verb("inject", *ids, text, "--key", "mine", "--json"))
    assert {one["prompt"]["turn"] for one in again} == {2}
    assert {tuple(prompts_of(manager, one)[1:]) for one in twelve} == {(text,)}


def test_a_session_that_takes_no_prompt_is_named_and_the_others_get_it(manager, sessions):
    first, second = sessions("one", "two")
    [command] = manager.wait([manager.run(["true"], title="a command").id], timeout=60)
    done = verb("inject", first.id, command.id, second.id, "go on")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [f'{one.short_id} "{one.title}": turn 2' for one in (first, second)]
    assert (
        f'{command.short_id} "a command": Session {command.short_id} is a command and takes no prompts' in done.stderr
    )
    told = array(verb("inject", command.id, first.id, "more", "--json"))
    assert [one["error"] and one["error"]["type"] for one in told] == ["SessionBusyError", None]
    assert told[0]["prompt"] is None


def test_an_id_that_names_nothing_sends_nothing(manager, sessions):
    [one] = sessions("one")
    done = verb("inject", one.id, "repair", "the bug")
    assert done.returncode == 2
    assert "No session with id 'repair'" in done.stderr
    assert "A prompt of several words needs quotes." in done.stderr
    assert len(prompts_of(manager, one)) == 1


def test_several_ids_without_a_prompt_get_that_of_stdin(manager, sessions):
    first, second = sessions("one", "two")
    argv = [sys.executable, "-m", "agentdash", "inject", first.id, second.short_id, "--wait"]
    subprocess.run(argv, input=b"from the pipe", check=True, capture_output=True, timeout=120)
    assert [prompts_of(manager, one)[1:] for one in (first, second)] == [["from the pipe"]] * 2


def test_a_filter_chooses_sessions_after_a_yes(manager, sessions):
    first, second = sessions("api one", "web two")
    refused = verb("inject", "--filter", "title:api", "go on")
    assert (refused.returncode, "The prompt would go to 1 session. Add --yes" in refused.stderr) == (2, True)
    assert verb("inject", "--filter", "title:nothing", "x", "--yes").returncode == 2
    done = verb("inject", "--filter", "title:api", "--yes", "--wait", "go on")
    assert done.returncode == 0, done.stderr
    assert [len(prompts_of(manager, one)) for one in (first, second)] == [2, 1]
    assert len(array(verb("inject", "--all", "-y", "all of you", "--json", "--wait"))) == 2


def test_a_template_is_filled_in_for_each_session(manager, sessions, tmp_path):
    first, second = sessions("one", "two {id}")
    assert verb("inject", first.id, second.id, "--template", "where", "--wait").returncode == 0
    for one in (first, second):
        expected = f"You (scripted {one.id}) work in {tmp_path} on {one.title}: {{not a field}}"
        assert prompts_of(manager, one)[1:] == [expected]
    assert verb("inject", first.id, "--template", "quote", "--wait").returncode == 0
    assert prompts_of(manager, first)[2] == f"You said: {manager.reader.steps.answer(first.id, 2)}"


def test_a_template_that_cannot_be_filled_in_is_an_error(sessions, settings):
    [one] = sessions("one")
    no_branch = verb("inject", one.id, "--template", "branch")
    assert (no_branch.returncode, "Template branch: {branch} has no value" in no_branch.stderr) == (2, True)
    assert "Use either --template or a PROMPT." in verb("inject", one.id, "-", "--template", "where").stderr
    assert "Unknown template 'x'. Known templates: where, quote, branch." in verb("spawn", "--template", "x").stderr
    settings.write_text(CONFIG.replace("{branch}", "{bransh}"))
    wrong = verb("config", "templates")
    assert wrong.returncode == 2
    assert "config.toml:14: templates.branch.text: Unknown field {bransh}." in wrong.stderr


def test_a_start_is_filled_in_from_a_template(manager, settings, tmp_path):
    done = verb("spawn", "--template", "where", "--title", "fresh", "--wait", "--json")
    started = json.loads(done.stdout)
    assert prompts_of(manager, manager.reader.get(started["id"])) == [
        f"You (scripted {started['id']}) work in {tmp_path} on fresh: {{not a field}}"
    ]
    assert verb("spawn", "--template", "where", "--title", "two", "-n", "2").returncode == 2
    assert "{last_message} has no value for a session that has not begun" in verb("spawn", "--template", "quote").stderr


def test_templates_are_listed(settings):
    assert (
        verb("config", "templates").stdout.splitlines()[0].startswith("where   the place  You ({agent} {id}) work in")
    )
    assert array(verb("config", "templates", "--json"))[0] == {
        "name": "where", "description": "the place", "fields": ["agent", "cwd", "id", "title"],
        "text": "You ({agent} {id}) work in {cwd} on {title}: {{not a field}}",
    }  # fmt: skip
    settings.write_text("")
    assert "No templates yet. Add [templates.NAME] to" in verb("config", "templates").stdout


def test_prompts_are_found_again(manager, sessions):
    first, second = sessions("one", "two")
    verb("inject", first.id, second.id, "Fix the LOGIN test", "--wait")
    manager.wait([manager.run(["true"]).id], timeout=60)
    assert [one["text"] for one in array(verb("prompts", "--json"))] == ["Fix the LOGIN test", "begin two", "begin one"]
    [found] = array(verb("prompts", "test", "login", "--json"))
    assert (found["text"], found["session"]) == ("Fix the LOGIN test", second.id)
    assert verb("prompts", "begin", "-n", "1").stdout.split(maxsplit=1)[1] == "begin two\n"
    assert verb("prompts", "nothing like it").stdout == "No such prompt.\n"
