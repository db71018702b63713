"""A project's settings against the user's own: what is refused, what becomes lower, and which origin each value has."""

import pytest

from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.starts.launch_plan import build_launch, completed
from agentdash.sessions.service.projects.review import Review, review
from agentdash.sessions.settings.catalog import setting_named
from agentdash.sessions.settings.effective import held, held_at

from .conftest import Place


def reviewed(place: Place, own: str, text: str) -> Review:
    place.own(own)
    place.write(text)
    return review(place.file, place.store, place.loaded())


CODEX, CLAUDE = "[agents.codex]\n", "[agents.claude]\n"
NEVER = "A project can never lift all limits of an agent."
CANNOT = "A project cannot set it."


def test_a_setting_that_widens_is_refused_with_its_line_and_the_reason(place: Place) -> None:
    for own, text, key, why in [
        ("", CODEX + 'sandbox = "danger-full-access"', "agents.codex.sandbox", NEVER),
        (
            CODEX + 'sandbox = "danger-full-access"',
            CODEX + 'sandbox = "danger-full-access"',
            "agents.codex.sandbox",
            NEVER,
        ),
        (
            CODEX + 'sandbox = "read-only"',
            CODEX + 'sandbox = "workspace-write"',
            "agents.codex.sandbox",
            "wider than read-only",
        ),
        ("", CODEX + "full_danger = true", "agents.codex.full_danger", NEVER),
        (CODEX + "full_danger = true", CODEX + "full_danger = true", "agents.codex.full_danger", NEVER),
        ("", CLAUDE + 'permission_mode = "bypassPermissions"', "agents.claude.permission_mode", NEVER),
        ("", CLAUDE + 'permission_mode = "auto"', "agents.claude.permission_mode", "auto is wider than acceptEdits"),
        (
            CLAUDE + 'permission_mode = "auto"',
            CLAUDE + 'permission_mode = "acceptEdits"',
            "agents.claude.permission_mode",
            "wider than auto",
        ),
        (
            CLAUDE + 'permission_mode = "dontAsk"',
            CLAUDE + 'permission_mode = "plan"',
            "agents.claude.permission_mode",
            "wider than dontAsk",
        ),
        ("", CLAUDE + 'allowed_tools = ["Bash"]', "agents.claude.allowed_tools", CANNOT),
        (
            CLAUDE + 'allowed_tools = ["Edit"]',
            CLAUDE + 'allowed_tools = ["Edit", "Bash"]',
            "agents.claude.allowed_tools",
            '["allowed_tools"] in [projects]',
        ),
        (CODEX + 'approvals = "deny"', CODEX + 'approvals = "ask"', "agents.codex.approvals", "own settings (deny)"),
        (CODEX + "live = false", CODEX + "live = true", "agents.codex.live", "own settings (false)"),
        ("", CODEX + "search = true", "agents.codex.search", CANNOT),
        ("", CODEX + 'args = ["--yolo"]', "agents.codex.args", CANNOT),
        ("", CODEX + 'config = {notify = ["sh"]}', "agents.codex.config", CANNOT),
        ("", CODEX + 'bin = "./x"', "agents.codex.bin", CANNOT),
        ("", CODEX + 'stop = {after_turn = "sweep"}', "agents.codex.stop", CANNOT),
        ("", CODEX + 'model = "--yolo"', "agents.codex.model", "not the name of a model"),
        ("[limits]\ncost_usd = 1", CODEX + 'model = "unpriced"', "agents.codex.model", "limit on the cost needs"),
        ("[limits]\ncost_usd = 1", CLAUDE + 'model = "unpriced"', "agents.claude.model", "limit on the cost needs"),
        ("", "[presets.a]\ncwd = '/'", "presets.a.cwd", CANNOT),
        ("", "[presets.a]\ncopies = 9", "presets.a.copies", CANNOT),
        ("", "[presets.a]\nmodel = '-x'", "presets.a.model", "not the name of a model"),
        ("", "[presets.a]\nagent = 'command'", "presets.a.agent", "cannot choose command"),
        (CLAUDE + "full_danger = true", "[presets.a]\nagent = 'claude'", "presets.a.agent", "do not limit it"),
        (CLAUDE + "full_danger = true", "default_agent = 'claude'", "default_agent", "do not limit it"),
        ("", "[presets.a.options]\nfull_danger = true", "presets.a.options.full_danger", NEVER),
        ("", "[presets.a.options]\nbin = 'x'", "presets.a.options.bin", CANNOT),
        (
            CODEX + 'sandbox = "read-only"',
            '[presets.a.options]\nsandbox = "workspace-write"',
            "presets.a.options.sandbox",
            "wider than read-only",
        ),
        *(
            ("", text, key, CANNOT)
            for key, text in {
                "asks": "[[asks.rules]]\ndecide = 'allow'",
                "attention": "[attention]",
                "dashboard": "[dashboard]",
                "keys": "[keys]",
                "live": "[live]",
                "notify": "[notify]\ncommand = ['x']",
                "prices": "[prices]",
                "profiles": "[profiles.a]",
                "projects": "[projects]\nallow = ['args']",
                "queue": "[queue]\nmax_running = 99",
                "stop": "[stop]",
                "hooks": "[hooks]",
            }.items()
        ),
    ]:
        found = reviewed(place, own, text)
        assert found.state == "refused", (own, text)
        line = 1 if key in text.splitlines()[0] or key.split(".", maxsplit=1)[0] == key else 2
        assert found.why.startswith(f"{place.file}:{line}: {key}: "), (own, text)
        assert why in found.why, (own, text)
        place.write(text, trusted=True)
        assert place.settings().config == place.loaded().config, (own, text)


def test_a_setting_that_narrows_is_in_force(place: Place) -> None:
    for own, text, key, value in [
        ("", CODEX + 'sandbox = "read-only"', "agents.codex.sandbox", "read-only"),
        (CODEX + "full_danger = true", CODEX + 'sandbox = "workspace-write"', "agents.codex.full_danger", False),
        (CODEX + "full_danger = true", CODEX + "full_danger = false", "agents.codex.full_danger", False),
        ("", CLAUDE + 'permission_mode = "plan"', "agents.claude.permission_mode", "plan"),
        (
            CLAUDE + 'permission_mode = "bypassPermissions"',
            CLAUDE + 'permission_mode = "acceptEdits"',
            "agents.claude.permission_mode",
            "acceptEdits",
        ),
        (
            CLAUDE + 'allowed_tools = ["Edit", "Bash"]',
            CLAUDE + 'allowed_tools = ["Edit"]',
            "agents.claude.allowed_tools",
            ("Edit",),
        ),
        ("", CODEX + 'approvals = "deny"', "agents.codex.approvals", "deny"),
        ("", CODEX + "live = false", "agents.codex.live", False),
        ("", CODEX + "search = false", "agents.codex.search", False),
        (CODEX + "search = true", CODEX + "search = true", "agents.codex.search", True),
        ("[projects]\nallow = ['search']", CODEX + "search = true", "agents.codex.search", True),
        (
            "[projects]\nallow = ['args']\n[agents.codex]\nargs = ['--strict-config']",
            CODEX + "args = ['--enable', 'x']",
            "agents.codex.args",
            ("--strict-config", "--enable", "x"),
        ),
        (
            "[projects]\nallow = ['config']\n[agents.codex.config]\na = 1\nb = 1",
            "[agents.codex.config]\na = 2",
            "agents.codex.config",
            {"a": 2, "b": 1},
        ),
        (
            CODEX + "instructions = 'Be brief.'",
            CODEX + "instructions = 'Test.'",
            "agents.codex.instructions",
            "Be brief.\n\nTest.",
        ),
        ("", CODEX + 'model = "gpt-5"', "agents.codex.model", "gpt-5"),
        ("[limits]\ncost_usd = 1", CLAUDE + 'model = "opus"', "agents.claude.model", "opus"),
        ("default_agent = 'codex'", "default_agent = 'claude'", "default_agent", "claude"),
        ("", "[presets.a]\nprompt = 'x'", "presets.a.agent", "codex"),
        ("[projects]\nallow = ['copies']", "[presets.a]\ncopies = 3", "presets.a.copies", 3),
        ("[presets.a]\nprompt = 'mine'", "[presets.a]\nprompt = 'theirs'", "presets.a.prompt", "mine"),
        ("", "[templates.a]\ntext = 'x'", "templates.a.text", "x"),
        ("[templates.a]\ntext = 'mine'", "[templates.a]\ntext = 'theirs'", "templates.a.text", "mine"),
        ("[limits]\ntokens = 5", "[limits]\ntokens = 9", "limits.tokens", 5),
        ("[limits]\ntokens = 5", "[limits]\ntokens = 3", "limits.tokens", 3),
        ("", "[limits]\ntokens = 3", "agents.codex.limits.tokens", 3),
        ("[limits]\ntokens = 5", "[agents.codex.limits]\ntokens = 9", "agents.codex.limits.tokens", 5),
        ("[agents.codex.limits]\ntokens = 9", "[limits]\ntokens = 7", "agents.codex.limits.tokens", 7),
        ("[limits]\naction = 'stop'", "[limits]\naction = 'warn'", "limits.action", "stop"),
        ("[limits]\naction = 'warn'", "[limits]\naction = 'stop'", "limits.action", "stop"),
        ("", "[limits]\naction = 'warn'", "limits.action", None),
        ("[agents.claude.limits]\ntokens = 5", "[presets.a.limits]\ntokens = 9", "presets.a.limits.tokens", 5),
        ("[limits]\ntokens = 5", "[presets.a.options.limits]\ntokens = 9", "presets.a.limits.tokens", 5),
    ]:
        place.own(own)
        place.write(text, trusted=True)
        loaded = place.settings()
        assert loaded.notes == (), (own, text)
        found = held_at(loaded, setting_named(key)).value
        assert (tuple(found) if isinstance(found, list) else found) == value, (own, text)


def origins(place: Place) -> dict[str, str]:
    return {one.setting.key: str(one.origin) for one in held(place.settings(), {})}


def test_each_value_has_an_origin(place: Place) -> None:
    place.own(
        '[agents.codex]\ninstructions = "Be brief."\nfull_danger = true\n[limits]\ntokens = 5\n'
        '[presets.a]\nprompt = "z"\n'
    )
    text = (
        'default_agent = "claude"\n[agents.codex]\nsandbox = "read-only"\n[limits]\ntokens = 9\nwall_seconds = 60\n'
        '[presets.a]\nprompt = "x"\n[presets.b]\nprompt = "y"\n'
    )
    place.write(text, trusted=True)
    found = origins(place)
    assert {key: found[key] for key in (
        "default_agent", "agents.codex.sandbox", "agents.codex.full_danger", "agents.codex.instructions",
        "agents.codex.model", "limits.tokens", "limits.wall_seconds", "agents.claude.limits.wall_seconds",
        "presets.b.prompt", "presets.a.prompt",
    )} == {
        "default_agent": ".agentdash.toml:1",
        "agents.codex.sandbox": ".agentdash.toml:3",
        "agents.codex.full_danger": ".agentdash.toml:2",
        "agents.codex.instructions": "config.toml:2",
        "agents.codex.model": "default",
        "limits.tokens": "config.toml:5 (forced)",
        "limits.wall_seconds": ".agentdash.toml:6",
        "agents.claude.limits.wall_seconds": ".agentdash.toml:6",
        "presets.b.prompt": ".agentdash.toml:10",
        "presets.a.prompt": "config.toml:7 (forced)",
    }  # fmt: skip
    place.own("[projects]\nread = false")
    assert not [origin for origin in origins(place).values() if "agentdash" in origin]


def test_options_of_a_start_win_over_the_project(place: Place) -> None:
    place.write('default_agent = "codex"\n[agents.codex]\nsandbox = "read-only"\nlive = false\n', trusted=True)
    config = place.settings().config
    for options, sandbox in (({}, "read-only"), ({"sandbox": "workspace-write"}, "workspace-write")):
        start = completed(Start("go", cwd=str(place.folder), options=options), config)
        assert sandbox in build_launch(config, start).argv


@pytest.mark.parametrize("text", ['sandbox = "read-only"', "limits = { tokens = 5 }"])
def test_a_preset_of_the_users_own_keeps_its_options_if_the_project_has_another_default_agent(
    place: Place, text: str
) -> None:
    place.own(f"[presets.look.options]\n{text}\n")
    place.write('default_agent = "claude"\n', trusted=True)
    config = place.settings().config
    assert config.default_agent == "claude"
    for agent in ("", "codex"):
        start = Start("go", agent=agent, cwd=str(place.folder))
        found = config.presets["look"].completing(start, config.default_agent)
        assert (found.agent, found.options) == ("codex", place.loaded().config.presets["look"].options)


def test_a_preset_that_sets_nothing_of_an_agent_is_for_the_projects_default_agent(place: Place) -> None:
    place.own('[presets.look]\nprompt = "Look at {prompt}."\n')
    place.write('default_agent = "claude"\n', trusted=True)
    config = place.settings().config
    found = config.presets["look"].completing(Start("this", cwd=str(place.folder)), config.default_agent)
    assert (found.agent, found.prompt) == ("claude", "Look at this.")
