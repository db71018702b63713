"""The real codex and claude, if `make tools` installed them, with the scripted model of the tests."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentdash.sessions.agents.registry import agent_named

TESTS = Path(__file__).resolve().parent.parent / "tests"
TOOLS = TESTS / "tools"
REAL = {
    name: TOOLS / f"{name}-{agent_named(name).tested_versions[-1]}" / "node_modules" / ".bin" / name
    for name in ("codex", "claude")
}
"""The newest tested version of each."""

OPTIONS = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}


@contextmanager
def scripted_model(folder: Path) -> Iterator[str]:
    """Run the scripted model of the tests; yield its address."""
    argv = [sys.executable, str(TESTS / "fakemodel" / "fakemodel.py"), "--port", "0"]
    server = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder)
    try:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["url"]
    finally:
        server.terminate()
        server.communicate()


def environment(folder: Path, url: str) -> dict[str, str]:
    """Write the settings of both agents, and return the environment that points them at the model."""
    codex, claude = folder / "codex-home", folder / "claude-home"
    for home in (codex, claude):
        home.mkdir()
    (codex / "config.toml").write_text(
        'model = "gpt-5.5"\nmodel_provider = "fake"\n[model_providers.fake]\n'
        f'name = "Fake"\nbase_url = "{url}/v1"\nenv_key = "FAKE_KEY"\nwire_api = "responses"\n'
    )
    return {
        "CODEX_HOME": str(codex), "FAKE_KEY": "dummy", "CLAUDE_CONFIG_DIR": str(claude), "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1", "IS_SANDBOX": "1", "HOME": str(folder),
    }  # fmt: skip
