"""Foreign words in prompts: what an agent would replace is made inert, and nothing else changes."""

import pytest

from agentdash.sessions.agents.capabilities import Expansions
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.rules.prompts.chain import Predecessor, chained_prompt
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.families.rights import Rights
from agentdash.sessions.transcript.visible.retelling import retold, retold_compacted

CLAUDE, CODEX = agent_named("claude").expands, agent_named("codex").expands
SECRET = "@/home/ann/secret"


@pytest.mark.parametrize(
    ("text", "inert"),
    [
        ("@/p", r"\@/p"), ("a\n@/p", "a\n\\@/p"), ("| @p", r"| \@p"), ('@"a b"', r'\@"a b"'),
        ("\u3002@p", "\u3002\\@p"),
        ("\u00a0@server:uri", "\u00a0\\@server:uri"), ("@@p", r"\@\@p"), (r"\@p", r"\@p"), ("ann@x.org", "ann@x.org"),
    ],
)  # fmt: skip
def test_claude_finds_no_file_in_it(text, inert):
    assert CLAUDE.inert(text) == inert
    assert CLAUDE.inert(inert) == inert


@pytest.mark.parametrize(
    ("text", "inert"),
    [
        ("$bar", "${bar}"), (r"\$bar", r"\${bar}"), ("$a-b_1.", "${a-b_1}."), ("${bar}", "${bar}"), ("$5.00", "$5.00"),
        ("[$bar](/p)", "[${bar}](/p)"), ("[@x](plugin://x)", r"[\@x](plugin://x)"), ("@p /c", "@p /c"),
    ],
)  # fmt: skip
def test_codex_finds_no_skill_in_it(text, inert):
    assert CODEX.inert(text) == inert
    assert CODEX.inert(inert) == inert


@pytest.mark.parametrize("begin", ["", " ", "\n", "\u3000"])
def test_a_command_is_one_only_at_the_beginning_of_a_prompt(begin):
    assert CLAUDE.inert(f"{begin}/clear", at_first=True) == r"\/clear"
    assert CLAUDE.inert(f"{begin}/clear") == f"{begin}/clear"
    assert CODEX.inert(f"{begin}/clear", at_first=True) == f"{begin}/clear"


def steps(text):
    return [Step(kind=StepKind.PROMPT, text="look"), Step(kind=StepKind.MESSAGE, text=text)]


@pytest.mark.parametrize(
    "prompt",
    [
        chained_prompt("Sum it up: @notes", Predecessor(id="f" * 16, title=SECRET), f"done\n{SECRET}", CLAUDE),
        retold("/p", steps(f"done\n{SECRET}"), "Go on: @notes", CLAUDE),
        retold_compacted("/p", ["look"], SECRET, steps(SECRET), "Go on: @notes", expands=CLAUDE),
    ],
)
def test_the_words_of_agents_are_inert_and_those_of_the_user_stay(prompt):
    assert SECRET[1:] in prompt
    assert prompt.replace(rf"\{SECRET}", "").count("@/") == 0
    assert ": @notes" in prompt
    assert r"In the following text, \@ is written for @." in prompt


def test_an_answer_in_the_place_of_its_field_is_no_command():
    assert chained_prompt("{answer}", Predecessor(id="f" * 16), "/clear @p", CLAUDE) == r"\/clear \@p"
    assert chained_prompt("Do {answer}", Predecessor(id="f" * 16), "/clear @p", CLAUDE) == r"Do /clear \@p"


@pytest.mark.parametrize(
    ("caller", "prompt"),
    [
        (Caller(), f"/hey {SECRET}"),
        (Caller(session="0" * 16, evidence="environment"), rf"\/hey \{SECRET}"),
        (Caller(lead="claude:1", evidence="lead key"), rf"\/hey \{SECRET}"),
        (Caller(evidence="client"), rf"\/hey \{SECRET}"),
    ],
)
def test_the_prompt_of_an_agent_for_another_is_inert(caller, prompt):
    assert Rights(caller).prompt(f"/hey {SECRET}", "claude") == prompt


def test_an_agent_that_replaces_nothing_gets_the_text_as_it_is():
    assert Expansions().quoted(f"/hey {SECRET} $bar") == f"/hey {SECRET} $bar"
