"""Adding an agent CLI is one module and one line: a copy of agentdash with one more agent, and what it does with it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

MODULE = "agentdash.sessions.agents.tiny"
LINE = f'    "tiny": Entry("{MODULE}:Tiny", "{MODULE}:TinyLog"),\n'
FIRST = "REGISTRY: dict[str, Entry] = {\n"

CLI = """
import json, signal, sys

def tell(kind, **own):
    print(json.dumps({"type": f"tiny.{kind}", **own}), flush=True)

if "--version" in sys.argv:
    print("tiny 1.2.0")
    sys.exit()
prompt = sys.stdin.read().strip()
options = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[1:])
tell("begin", talk=options.get("talk", "talk-1"))
if prompt.startswith("call "):
    for _ in range(20):
        tell("tool", name=prompt.removeprefix("call "), at="the clock")
    signal.pause()
tell("say", text=f"{prompt}: {' '.join(sys.argv[1:])}")
tell("end", ok=True)
"""


def link_all(source: Path, target: Path, *, but: str) -> None:
    """Fill a new folder with links to what is in another one, but for one name."""
    target.mkdir(parents=True)
    for path in source.iterdir():
        if path.name not in (but, "__pycache__"):
            (target / path.name).symlink_to(path)


class Tiny:
    """agentdash with the new agent."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def run(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
        """What a verb prints on stdout."""
        argv = [sys.executable, "-m", "agentdash", *arguments]
        done = subprocess.run(argv, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode in codes, done.stderr
        return done.stdout

    def finding(self) -> dict:
        """What doctor says of the agent; the machine may lack other things."""
        findings = json.loads(self.run("doctor", "--json", codes=(0, 1)))
        return next(one for one in findings if one["name"] == "tiny")

    def session(self, *arguments: str) -> dict:
        """The session that a verb prints as JSON."""
        return json.loads(self.run(*arguments, "--json"))

    def attention(self, session_id: str, steps: int) -> object:
        """Why the session needs its user, once it has that many steps; else None."""
        [found] = json.loads(self.run("ls", "--json"))
        assert found["id"] == session_id
        return (found["attention"],) if found["steps"] >= steps else None


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A copy of the package with the module and the line, and the agent's CLI in PATH."""
    package = tmp_path / "copy" / "agentdash"
    link_all(ROOT / "src/agentdash", package, but="sessions")
    link_all(ROOT / "sessions", package / "sessions", but="agents")
    agents = package / "sessions" / "agents"
    link_all(ROOT / "sessions" / "agents", agents, but="registry.py")
    registry = (ROOT / "sessions" / "agents" / "registry.py").read_text()
    assert registry.count(FIRST) == 1
    (agents / "registry.py").write_text(registry.replace(FIRST, FIRST + LINE))
    (agents / "tiny.py").write_text((HERE / "tiny_agent.py").read_text())
    program = tmp_path / "bin" / "tiny"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{CLI}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.chdir(tmp_path)
    tiny = Tiny(tmp_path / "state")
    yield tiny
    if ids := [session["id"] for session in json.loads(tiny.run("ls", "--json"))]:
        tiny.run("stop", "--now", *ids)


@pytest.mark.smoke
def test_it_is_started_followed_and_continued(tiny):
    done = tiny.session("spawn", "--agent", "tiny", "--wait", "Say hi")
    assert (done["agent"], done["status"], done["agent_session"]) == ("tiny", "done", "talk-1")
    assert done["last_message"] == "Say hi: --reach=near"
    steps = json.loads(tiny.run("trajectory", done["id"], "--json"))
    assert [step["kind"] for step in steps] == ["prompt", "start", "message"]
    again = tiny.session("inject", done["id"], "And now?", "--wait")
    assert (again["status"], again["turn"]) == ("done", 2)
    assert again["last_message"] == "And now?: --reach=near --talk=talk-1"


def test_its_options_are_options_of_spawn(tiny):
    assert "  --reach MODE " in tiny.run("spawn", "--help")
    assert "How far the agent may go (tiny)." in tiny.run("spawn", "--help")
    for options, argument in ((("--reach", "far"), "--reach=far"), (("--danger",), "--no-bounds")):
        assert tiny.run("spawn", "--agent", "tiny", "--dry-run", *options, "hi").startswith(f"tiny {argument}\n")
    assert tiny.run("config", "get", "agents.tiny.reach") == "near\n"


def test_its_files_are_recognized(tiny, tmp_path):
    done = tiny.session("spawn", "--agent", "tiny", "--wait", "Say hi")
    output = tiny.home / "sessions" / done["id"] / "turns" / "turn_1.jsonl"
    assert "Say hi: --reach=near" in tiny.run("view", str(output))
    log = tmp_path / "log.jsonl"
    log.write_text('{"tiny_log": "user", "text": "Say hi"}\n{"tiny_log": "model", "text": "Hi!"}\n')
    steps = json.loads(tiny.run("view", str(log), "--json"))
    assert [(step["kind"], step["text"]) for step in steps] == [("prompt", "Say hi"), ("message", "Hi!")]
    shown = "".join(tiny.run("view", "--help").split())
    streams, _, transcripts = shown.partition("(turnfiles),")
    assert "tiny,codex,claude" in streams
    assert transcripts.startswith("tiny-log,codex-rollout,")


def test_doctor_looks_at_it(tiny):
    found = tiny.finding()
    assert (found["state"], found["found"].partition(" ")[0]) == ("ok", "1.2.0")
    (tiny.home.parent / "bin" / "tiny").write_text("#!/bin/sh\necho tiny 1.1.9\n")
    found = tiny.finding()
    assert (found["state"], found["remedy"]) == ("warn", "Install it with `make tiny`.")
    assert found["found"].endswith("is older than the tested 1.2.0")


def test_its_loops_are_found_and_its_polling_is_none(tiny, wait_until):
    session = tiny.session("spawn", "--agent", "tiny", "call look")
    [why] = wait_until(lambda: tiny.attention(session["id"], 21), what="the calls")
    assert why["kind"] == "stuck"
    assert why["reason"] == 'the same call look(at="the clock") 20 times'
    tiny.run("rm", "--yes", session["id"])
    session = tiny.session("spawn", "--agent", "tiny", "call peek")
    assert wait_until(lambda: tiny.attention(session["id"], 21), what="the calls") == (None,)


def test_the_dialog_offers_it_with_its_modes(tiny, terminal):
    terminal.start(f"{sys.executable} -m agentdash")
    terminal.shows("No sessions yet", "n new")
    terminal.keys("n")
    terminal.shows("New session", "folder")
    terminal.type("Say hi")
    terminal.keys("Tab")
    terminal.choose("tiny")
    terminal.shows("reach", "[near]", "near, refuses more")
    terminal.keys("C-o")
    terminal.shows("$ tiny --reach=near")
    terminal.keys("Tab")
    terminal.choose("no-bounds")
    terminal.shows("$ tiny --no-bounds")
    terminal.keys("Enter")
    terminal.shows("✓ done", "Say hi: --no-bounds")
    terminal.keys("q")
    terminal.shows("exited 0")
