"""Patches of codex that did not apply: only its stderr names them, with colours if it is an app server."""

import pytest

from agentdash.sessions.agents.registry import agent_named

PLAIN = "2026-11-23T22:28:38.171165Z ERROR codex_core::tools::router: error=apply_patch verification failed: Failed"
COLOURED = (
    "\x1b[2m2026-11-23T22:28:37Z\x1b[0m \x1b[31mERROR\x1b[0m \x1b[2mcodex_core::tools::router\x1b[0m\x1b[2m:\x1b[0m"
    " \x1b[3merror\x1b[0m\x1b[2m=\x1b[0mapply_patch verification failed: Failed"
)


def test_a_refused_patch_is_recognised_with_colours():
    refused = COLOURED.replace("apply_patch verification failed: Failed", "patch rejected: outside of the project")
    assert list(agent_named("codex").complaints.refusals(f"{refused}\r\n{COLOURED}")) == ["apply_patch"]


@pytest.mark.parametrize(
    ("stderr", "failed"),
    [
        ("", 0),
        (PLAIN, 1),
        (f"{COLOURED}\nwarning\n{PLAIN}\r\n", 2),
        ("ERROR codex_core: error=patch rejected: outside of the project", 0),
        ("apply_patch verification failed: a command's own words", 0),
        ("\0\u202e\ufffdERROR" * 9_000, 0),
    ],
    ids=["nothing", "plain", "both", "refused", "other words", "hostile"],
)
def test_each_patch_that_did_not_apply_counts_once(stderr, failed):
    assert agent_named("codex").complaints.failed_edits(stderr) == failed
