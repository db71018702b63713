"""A real session written down and played again, by the command itself."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from isolation import isolate
from verbs import verb as agentdash

from agentdash.sessions.rules.json_schema import dump, step_json
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.manager import SessionManager
from scripted.registration import registered

AGENTDASH = (sys.executable, "-u", "-m", "agentdash")


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A state folder with a session in it: two turns of the scripted agent, with a step of most kinds."""
    folder = tmp_path_factory.mktemp("ended")
    home = folder / "state"
    home.mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        isolate(patch, folder)
        patch.chdir(folder)
        with registered(), SessionManager() as manager:
            [first] = manager.wait(
                [manager.spawn(Start("hello <b> [[script:quick]]", agent="scripted")).id], timeout=60
            )
            manager.prompts.inject(first.id, "again [[script:quick]]")
            manager.wait([first.id], timeout=60)
    return home, first.id


@pytest.fixture
def session(scripted_agent: None, ended: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The session; what is written goes to a folder of the test's own."""
    monkeypatch.setenv("AGENTDASH_HOME", str(ended[0]))
    monkeypatch.chdir(tmp_path)
    return ended[1]


@pytest.mark.smoke
def test_the_default_is_markdown_on_stdout(session: str) -> None:
    told = agentdash("export", session)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("# hello \\<b\\>")
    assert "## Turn 2" in told.stdout
    assert "✗ exit 3" in told.stdout
    one = agentdash("export", session, "--turn", "2", "-o", "-").stdout
    assert "## Turn 2" in one
    assert "## Turn 1" not in one


def test_stdout_is_utf8_wherever_it_goes(session: str) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    words = [*AGENTDASH, "export", session, "--format", "html"]
    told = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert '<meta charset="utf-8">' in told.stdout
    assert "✗ exit 3" in told.stdout


def test_the_suffix_decides_and_the_file_is_whole_and_private(session: str, tmp_path: Path) -> None:
    told = agentdash("export", session, "-o", "it.html")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("wrote it.html: 28 steps, HTML, ")
    page = (tmp_path / "it.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert page.endswith("</html>\n")
    assert "hello &lt;b&gt;" in page
    assert (tmp_path / "it.html").stat().st_mode & 0o777 == 0o600
    assert agentdash("export", session, "-o", "it.html", "--format", "md", "--force").returncode == 0
    assert (tmp_path / "it.html").read_text().startswith("# hello")


def test_the_json_of_a_session_is_the_documented_one(session: str, tmp_path: Path) -> None:
    told = agentdash("export", session, "-o", "it.json", "--json")
    written = tmp_path / "it.json"
    document = json.loads(written.read_text())
    assert json.loads(told.stdout) == {
        "path": str(written),
        "format": "json",
        "steps": len(document["steps"]),
        "bytes": written.stat().st_size,
    }
    assert document["session"]["id"] == session
    with SessionManager() as manager:
        assert document["steps"] == [
            json.loads(dump(step_json(step))) for step in manager.reader.steps.trajectory(session)
        ]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-o", "there.md"], 2, "there.md already exists; not overwritten"),
        (["-o", "it.pdf"], 2, "unknown file extension .pdf"),
        (["-o", "no/such/it.md"], 2, "no such folder"),
        (["-o", "."], 2, "is a folder"),
        (["-o", "/proc/it.md"], 1, "/proc/it.md: cannot be written"),
        (["--json"], 2, "add -o FILE"),
        (["--format", "pdf"], 2, "'pdf' is not one of 'md', 'html', 'json'"),
        (["--turn", "9"], 2, "has no turn 9"),
    ],
)
def test_what_cannot_be_written_is_said_and_leaves_nothing(
    session: str, tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    (tmp_path / "there.md").write_text("mine")
    before = sorted(os.listdir(tmp_path))
    told = agentdash("export", session, *words)
    assert (told.returncode, told.stdout) == (code, "")
    assert message in told.stderr
    assert "Traceback" not in told.stderr
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "there.md").read_text() == "mine"
    as_json = agentdash("export", session, *words, "--json")
    assert as_json.returncode in (code, 2)
    assert list(json.loads(as_json.stderr)) == ["error"]


@pytest.mark.usefixtures("scripted_agent")
def test_no_session_to_export_or_replay() -> None:
    for verb in (["export"], ["trajectory", "--replay"]):
        told = agentdash(*verb, "zzzz")
        assert told.returncode == 1
        assert "No session with id 'zzzz'" in told.stderr


def test_a_replay_prints_what_the_trajectory_does(session: str) -> None:
    told = agentdash("trajectory", "--replay", session, "--max-gap", "0")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout == agentdash("trajectory", session).stdout
    one = agentdash("trajectory", "--replay", session, "--max-gap", "0", "--turn", "2").stdout
    assert "turn 2" in one
    assert "turn 1" not in one


def test_a_replay_as_json_is_a_step_a_line(session: str) -> None:
    told = agentdash("trajectory", "--replay", session, "--speed", "1e9", "--json")
    steps = [json.loads(line) for line in told.stdout.splitlines()]
    assert steps == json.loads(agentdash("trajectory", session, "--json").stdout)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--speed", "0"], "--speed must be a number above 0, not 0"),
        (["--speed", "-1"], "--speed must be a number above 0, not -1"),
        (["--speed", "nan"], "--speed must be a number above 0, not nan"),
        (["--speed", "inf"], "--speed must be a number above 0, not inf"),
        (["--speed", "fast"], "'fast' is not a valid float"),
        (["--max-gap", "-1"], "'-1' is not a valid duration"),
        (["--max-gap", "nan"], "'nan' is not a valid duration"),
        (["--turn", "9"], "has no turn 9"),
    ],
)
def test_a_replay_that_makes_no_sense(session: str, words: list[str], message: str) -> None:
    told = agentdash("trajectory", "--replay", session, *words)
    assert (told.returncode, told.stdout) == (2, "")
    assert message in told.stderr


def test_ctrl_c_ends_a_replay(session: str) -> None:
    words = [*AGENTDASH, "trajectory", "--replay", session, "--speed", "0.000001", "--max-gap", "1h"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"turn 1" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().strip() == b"agentdash: Interrupted; sessions keep running."
        assert process.wait() == 130


@pytest.mark.parametrize(
    "words",
    [
        ["export"],
        ["trajectory", "--replay", "--speed", "1e9"],
        ["trajectory", "--replay", "--max-gap", "0", "--json"],
    ],
)
def test_a_reader_that_goes_away_is_no_error(session: str, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen([*AGENTDASH, *words, session], stdout=writing, stderr=subprocess.PIPE) as process:
        os.close(writing)
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == 141
