"""The permission modes that Shift+Tab goes through."""

from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.tui.panes.session_pane import NextModes, mode_after

CODEX = AgentInfo(
    name="codex", title="Codex", installed=True, hint="", mode_key="sandbox", mode="workspace-write",
    modes=("read-only", "workspace-write", "danger-full-access"), dangerous=frozenset({"danger-full-access"}),
    unlimited="no-sandbox",
)  # fmt: skip


def test_the_modes_come_in_the_agents_order_and_then_the_first_again():
    assert mode_after(CODEX.modes, "read-only", "read-only") == "workspace-write"
    assert mode_after(CODEX.modes, "read-only", "danger-full-access") == "read-only"
    assert mode_after((), None, None) is None


def test_no_limits_at_all_are_offered_only_to_a_session_that_has_them():
    assert "no-sandbox" not in {mode_after(CODEX.modes, "read-only", mode) for mode in CODEX.modes}
    assert mode_after(CODEX.modes, "no-sandbox", "danger-full-access") == "no-sandbox"


def test_a_choice_is_for_one_prompt_and_ends_full_danger():
    modes = NextModes()
    modes.go_on("s1", CODEX, "workspace-write")
    chosen = modes.of("s1")
    assert chosen is not None
    assert (chosen.name, chosen.dangerous) == ("danger-full-access", True)
    assert chosen.settings == {"sandbox": "danger-full-access", "full_danger": False}
    assert modes.of("s2") is None
    modes.used("s1")
    assert modes.of("s1") is None


def test_the_usual_mode_is_no_choice():
    modes = NextModes()
    for _ in CODEX.modes:
        modes.go_on("s1", CODEX, "read-only")
    assert modes.of("s1") is None
