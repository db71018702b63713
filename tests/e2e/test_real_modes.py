"""What the real codex and claude may do in a turn: instructions, web search, and the change that allows a refusal."""

import json

import pytest
from real_clis import CLAUDES, EVERY_CLI
from verbs import verb

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.service.prompts.prompter import PromptOptions

pytestmark = pytest.mark.real

MINUTE = 60
INSTRUCTIONS = 'Answer "briefly".\nNever guess.'

REFUSED = [
    ("codex", "files", {"sandbox": "read-only"}, "sandbox workspace-write"),
    *((one, "shell_fail", {"permission_mode": "default"}, "Bash allowed") for one in CLAUDES),
    *(
        (claude, "shell_fail", {"permission_mode": "plan"}, "permission mode default, Bash allowed")
        for claude in CLAUDES
    ),
]


@pytest.fixture
def ended(manager, tmp_path):
    """Starts a session, and waits for its end."""
    (tmp_path / "project").mkdir()

    def start(agent, prompt, **options):
        session = manager.spawn(Start(prompt, agent=agent, cwd=str(tmp_path / "project"), options=options))
        return manager.wait([session.id], timeout=2 * MINUTE)[0]

    return start


def with_instructions(fake_model, prompt):
    """For each request with this prompt, whether the model was shown the instructions outside of the prompts."""
    requests = fake_model.asked(prompt)
    assert requests
    for request in requests:
        if "messages" in request:
            request.pop("messages")
        else:
            request["input"] = [one for one in request["input"] if one.get("role") == "developer"]
    as_json = json.dumps(INSTRUCTIONS)[1:-1]
    return [as_json in json.dumps(request) for request in requests]


@pytest.mark.parametrize("agent", EVERY_CLI, indirect=True)
def test_instructions_reach_the_model_in_the_first_and_in_later_turns(manager, agent, ended, fake_model):
    session = ended(agent, "the first prompt with instructions", instructions=INSTRUCTIONS)
    assert session.status is Status.DONE, session.reason
    assert set(with_instructions(fake_model, "the first prompt with instructions")) == {True}
    manager.prompts.inject(session.id, "the second prompt with instructions")
    assert manager.wait([session.id], timeout=2 * MINUTE)[0].status is Status.DONE
    assert set(with_instructions(fake_model, "the second prompt with instructions")) == {True}
    assert [turn.mode.instructions for turn in manager.reader.turns(session.id)] == [INSTRUCTIONS] * 2


@pytest.mark.parametrize("agent", EVERY_CLI, indirect=True)
def test_changed_instructions_reach_the_model_with_the_next_prompt_and_stay(manager, agent, ended, fake_model):
    session = ended(agent, "the first prompt with instructions", instructions=INSTRUCTIONS)
    for number, options in enumerate((PromptOptions(instructions="Answer in verse."), PromptOptions()), 2):
        manager.prompts.inject(session.id, f"prompt {number}, please", options)
        manager.wait([session.id], timeout=60)
    [second, third] = manager.reader.turns(session.id)[1:]
    assert (second.mode.instructions, third.mode.instructions) == ("Answer in verse.", "Answer in verse.")
    changed = "New instructions for this conversation, in place of the earlier additional ones:"
    assert fake_model.was_shown(f"{changed}\nAnswer in verse.\n\nprompt 2, please")
    assert manager.reader.prompts(session.id)[1].text == "prompt 2, please"


def searches(fake_model, prompt):
    """Whether the web search that each request offers is live; None if it offers none."""
    found = []
    for request in fake_model.asked(prompt):
        tools = [tool for tool in request["tools"] if tool.get("type") == "web_search"]
        found.append(tools[0]["external_web_access"] if tools else None)
    return set(found)


def test_web_search_is_live_or_off_in_each_turn_of_codex(manager, codex_env, ended, fake_model):
    session = ended("codex", "a prompt with a search", search=True)
    manager.prompts.inject(session.id, "a later prompt with a search")
    assert manager.wait([session.id], timeout=2 * MINUTE)[0].status is Status.DONE
    assert searches(fake_model, "a prompt with a search") == {True}
    assert searches(fake_model, "a later prompt with a search") == {True}
    ended("codex", "a prompt without any search", search=False)
    assert searches(fake_model, "a prompt without any search") == {None}


@pytest.mark.parametrize(("cli", "part", "options", "words"), REFUSED)
def test_what_was_refused_is_done_with_the_change_that_allows_it(manager, use_agent, ended, cli, part, options, words):
    agent = use_agent(cli)
    refused = ended(agent, f"[[fake:{part}]] go", **options)
    assert (refused.status, refused.denied) == (Status.DONE, 1)
    settings = manager.reader.settings.config().settings_for(agent, options)
    allowance = agent_named(agent).modes.allowance(settings, refused.denied_names)
    assert allowance.text == words
    allowed = ended(agent, f"[[fake:{part}]] go", **(options | allowance.options))
    assert (allowed.status, allowed.denied) == (Status.DONE, 0)


def test_the_settings_of_a_turn_are_told_by_the_verbs_and_outlive_the_database(
    manager, codex_env, ended, database_at_rest
):
    session = ended("codex", "the prompt", sandbox="read-only", search=True, instructions=INSTRUCTIONS)
    [turn] = json.loads(verb("show", session.id, "--json").stdout)["turns"]
    assert turn["mode"] == {
        "setting": "sandbox", "permissions": "read-only", "default": "workspace-write", "dangerous": False,
        "model": None, "search": True, "args": [], "allowed_tools": [], "instructions": INSTRUCTIONS,
    }  # fmt: skip
    line = 'sandbox: read-only  search: on  instructions: Answer "briefly". Never guess.'
    assert line in verb("show", session.id).stdout
    recorded = manager.reader.turns(session.id)[0].mode
    facts = {fact["name"]: fact["value"] for fact in json.loads(verb("explain", session.id, "--json").stdout)["facts"]}
    assert facts["runs with"].startswith("sandbox=read-only, search=on, instructions=Answer")
    exported = json.loads(verb("export", session.id, "--format", "json").stdout)
    assert exported["turns"] == [{"turn": 1, "mode": turn["mode"]}]
    database_at_rest().unlink()
    rebuilt = rebuild(manager.layout)
    assert rebuilt.restored == (session.id,), rebuilt
    assert manager.reader.turns(session.id)[0].mode == recorded
