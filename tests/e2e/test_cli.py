"""The command line over a real manager: verbs, exit codes, the JSON schema, and what bad input says."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from places import CAPTURES

from agentdash.sessions.model.errors import SessionBusyError
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.reader import SessionReader
from agentdash.tui.cli.main import run

FAKE_CODEX = """#!/bin/sh
cat > "$0.stdin"
echo '{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"[/red] fine"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}'
"""
DOCUMENTED = (
    "id agent title task status reason cwd model turn parent usage cost_usd exit_code signal created_at updated_at"
)
EVIL = "\x1b[31m[/red]\x07\u202e list[int]"


class Result:
    """What one command line gave."""

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code = code
        self.raw = out
        self.err = err.decode()

    @property
    def out(self) -> str:
        return self.raw.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    @property
    def error(self) -> dict[str, str]:
        """The one error that ``--json`` prints on stderr."""
        told = json.loads(self.err)
        assert list(told) == ["error"]
        assert list(told["error"]) == ["type", "message"]
        return dict(told["error"])


class Cli:
    """The command line in this process, with its own state folder."""

    def __init__(self, home: Path, capture: pytest.CaptureFixture[bytes], patch: pytest.MonkeyPatch) -> None:
        self.home = home
        self._capture = capture
        self._patch = patch

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Result:
        self._patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capture.readouterr()
        code = run(list(arguments))
        return Result(code, *self._capture.readouterr())

    def started(self, *argv: str) -> str:
        """The id of a session that runs a command."""
        return str(self("run", "--json", "--", *argv).json["id"])

    def ended(self, *argv: str) -> str:
        """The id of a session whose command has ended."""
        session = self.started(*argv)
        self("wait", session)
        return session


@pytest.fixture
def cli(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    home = tmp_path / "state"
    monkeypatch.setenv("AGENTDASH_HOME", str(home))
    monkeypatch.setenv("AGENTDASH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    yield Cli(home, capsysbinary, monkeypatch)
    if home.is_dir():
        with SessionManager(home) as manager:
            for session in manager.reader.sessions():
                if not session.status.ended:
                    manager.stop(session.id, NOW)


@pytest.fixture
def codex(tmp_path: Path) -> Path:
    """A stand-in that speaks codex's events; it keeps the prompt it was given."""
    path = tmp_path / "fake-codex"
    path.write_text(FAKE_CODEX)
    path.chmod(0o755)
    (tmp_path / "config.toml").write_text(f"[agents.codex]\nlive = false\nbin = '{path}'\n")
    return path


def test_ls_of_an_empty_store_teaches(cli: Cli) -> None:
    result = cli("ls")
    assert result.code == 0
    assert "agentdash spawn" in result.out
    assert cli("ls", "--json").json == []


@pytest.mark.smoke
def test_run_wait_show_and_output_of_a_command(cli: Cli) -> None:
    result = cli("run", "--wait", "--", "sh", "-c", "echo out; echo err >&2")
    assert (result.code, result.out) == (0, "out\n")
    assert "done" in result.err
    assert cli("output", "@last").raw == b"out\n"
    assert cli("output", "@last", "--stderr").raw == b"err\n"
    told = cli("output", "@last", "--json").json
    assert (told["text"], told["turn"], told["stream"]) == ("out\n", 1, "stdout")
    card = cli("show", "@last")
    assert "turn 1" in card.out
    assert card.out.endswith("out\n")


def test_output_is_the_raw_bytes(cli: Cli) -> None:
    session = cli.ended("printf", r"a\0\377\033[31m\r\n")
    assert cli("output", session).raw == b"a\0\xff\x1b[31m\r\n"
    told = cli("output", session, "--json").json
    assert told["lossy"] is True
    assert cli("output", cli.ended("echo", "ü"), "--json").json["lossy"] is False


@pytest.mark.smoke
def test_the_exit_code_of_wait_is_the_outcome(cli: Cli) -> None:
    good, bad = cli.ended("true"), cli.ended("sh", "-c", "exit 3")
    assert cli("wait", good).code == 0
    assert cli("wait", bad).code == 1
    assert cli("wait", good, bad).code == 1
    assert cli("run", "--wait", "--", "false").code == 1
    told = cli("wait", good, bad, "--json").json
    assert [session["status"] for session in told] == ["done", "failed"]
    assert told[1]["exit_code"] == 3


def test_wait_any_and_its_timeout(cli: Cli) -> None:
    slow, good = cli.started("sleep", "600"), cli.ended("true")
    assert cli("wait", slow, "--timeout", "0.05").code == 124
    result = cli("wait", slow, "--timeout", "0.05", "--json")
    assert result.code == 124
    assert result.error["type"] == "TimeoutError"
    assert cli("wait", slow, good, "--any").code == 0
    late = cli("run", "--timeout", "50ms", "--json", "--", "sleep", "600")
    assert late.code == 2
    late = cli("run", "--timeout", "0.05", "--json", "--", "sleep", "600")
    assert (late.code, late.json["status"]) == (124, "running")
    assert late.error["type"] == "TimeoutError"


def test_the_json_schema_of_a_session(cli: Cli) -> None:
    session = cli.ended("true")
    for told in (cli("ls", "--json").json[0], cli("show", session, "--json").json):
        assert list(told)[:16] == DOCUMENTED.split()
        assert set(told["usage"].values()) == {None}
        assert told["cost_usd"] is None
        assert (told["attention"]["kind"], told["attention"]["since"]) == ("done", told["ended_at"])
    told = cli("show", session, "--json").json
    assert told["turns"][0]["argv"] == ["true"]
    assert len(told["prompts"]) == 1


def test_ls_filters_and_sorts_newest_first(cli: Cli, tmp_path: Path) -> None:
    bad, good = cli.ended("false"), cli.ended("true")
    (tmp_path / "other").mkdir()
    elsewhere = cli("run", "--json", "--cwd", "other", "--", "true").json["id"]
    cli("wait", elsewhere)
    assert [s["id"] for s in cli("ls", "--json").json] == [elsewhere, good, bad]
    assert [s["id"] for s in cli("ls", "--json", "--status", "FAILED").json] == [bad]
    assert [s["id"] for s in cli("ls", "--json", "--here").json] == [good, bad]
    rows = cli("ls", "-s", "failed").out
    assert bad[:8] in rows
    assert good[:8] not in rows
    assert cli("ls", "-s", "running").out == "No matching sessions.\n"


@pytest.mark.smoke
def test_stop_prints_a_receipt_and_a_second_stop_changes_nothing(cli: Cli) -> None:
    session = cli.started("sh", "-c", "sleep 600 & sleep 600")
    [receipt] = cli("stop", session, "--json").json
    assert list(receipt)[:4] == ["session", "status", "ended", "left"]
    assert receipt["session"] == session
    assert receipt["status"] == "stopped"
    assert len(receipt["ended"]) == 3
    assert all({"pid", "command", "signal"} <= set(process) for process in receipt["ended"])
    assert receipt["left"] == []
    again = cli("stop", session)
    assert again.code == 0
    assert "0 processes ended" in again.out
    assert cli("wait", session).code == 1


def test_several_sessions_stop_at_once_and_give_an_array(cli: Cli) -> None:
    sessions = [cli.started("sleep", "600") for _ in range(2)]
    receipts = cli("stop", *sessions, "--now", "--json").json
    assert [receipt["session"] for receipt in receipts] == sessions
    assert {process["signal"] for receipt in receipts for process in receipt["ended"]} == {"SIGKILL"}


def test_a_whole_family_of_sessions_is_stopped_where_that_is_asked_for(cli: Cli, manager, wait_until) -> None:
    run = f"{sys.executable} -m agentdash run --"
    outer = cli.started("sh", "-c", f"{run} sh -c '{run} sleep 600; sleep 601'; sleep 602")
    wait_until(
        lambda: [one.status for one in manager.reader.descendants(outer)] == ["running"] * 2, what="three generations"
    )
    below = [one.id for one in manager.reader.descendants(outer)]
    receipts = cli("stop", outer, "--family", "--now", "--json").json
    assert [receipt["session"] for receipt in receipts] == [outer, *below]
    assert all(receipt["ended"] and not receipt["left"] for receipt in receipts)
    assert {manager.reader.get(one).status for one in (outer, *below)} == {"stopped"}


def test_verbs_that_take_several_ids_print_an_array_for_one_too(cli: Cli) -> None:
    session = cli.ended("true")
    for verb in ("pin", "archive", "restore", "stop", "wait", "rm", "restore"):
        [told] = cli(verb, session, "--json").json
        assert session in (told.get("id"), told.get("session"), told.get("deleted")), verb
    assert cli("rename", session, "x", "--json").json["title"] == "x"


def test_the_title_of_a_command_can_be_typed_again(cli: Cli) -> None:
    argv = ["sh", "-c", "echo a; exit 4"]
    session = cli("run", "--wait", "--json", "--", *argv).json
    assert session["title"] == session["task"] == "sh -c 'echo a; exit 4'"
    assert shlex.split(session["title"]) == argv
    facts = {fact["name"]: fact["value"] for fact in cli("explain", session["id"], "--json").json["facts"]}
    assert shlex.split(facts["command"]) == argv
    retried = cli("retry", "--wait", "--json", session["id"]).json
    assert (retried["turn"], retried["exit_code"]) == (2, 4)


def test_what_is_over_at_once_is_reported_once(cli: Cli, monkeypatch) -> None:
    started = SessionManager.started

    def after_its_end(self: SessionManager, ref: str) -> object:
        self.wait([ref], timeout=60)
        return started(self, ref)

    monkeypatch.setattr(SessionManager, "started", after_its_end)
    done = cli("run", "--wait", "--title", "quick", "--", "echo", "hello")
    assert done.out == "hello\n"
    assert done.err.count("quick") == 1
    failed = cli("run", "--wait", "--title", "quick", "--", "false")
    assert failed.err.count("quick") == 1
    assert failed.err.count("exit 1") == 1


def test_what_goes_on_is_reported_at_its_start_and_at_its_end(cli: Cli, tmp_path: Path, monkeypatch) -> None:
    os.mkfifo(tmp_path / "go")
    wait = SessionManager.wait

    def then_it_may_end(self: SessionManager, *refs: Any, **named: Any) -> Any:
        (tmp_path / "go").write_text("\n")
        return wait(self, *refs, **named)

    monkeypatch.setattr(SessionManager, "wait", then_it_may_end)
    done = cli("run", "--wait", "--title", "slow", "--", "sh", "-c", f"read line < {tmp_path}/go")
    assert [line.split()[2] for line in done.err.splitlines()] == ["running", "done"]


def test_one_wrong_id_stops_nothing(cli: Cli) -> None:
    session = cli.started("sleep", "600")
    assert cli("stop", session, "feedfeed").code == 1
    assert cli("show", session, "--json").json["status"] == "running"


def test_several_deletions_are_an_array_though_only_one_of_them_went_well(cli: Cli, monkeypatch) -> None:
    sessions = [cli("run", "--json", "--wait", "--", "true").json["id"] for _ in range(2)]
    delete = SessionManager.delete

    def busy(self: SessionManager, ref: str) -> object:
        if ref == sessions[0]:
            raise SessionBusyError("It was started again meanwhile.")
        return delete(self, ref)

    monkeypatch.setattr(SessionManager, "delete", busy)
    result = cli("rm", *sessions, "--json")
    assert [one["deleted"] for one in json.loads(result.out)] == sessions[1:]


def test_rm_of_what_runs_needs_a_yes(cli: Cli) -> None:
    session = cli.started("sleep", "600")
    refused = cli("rm", session)
    assert refused.code == 2
    assert "Still running" in refused.err
    assert "--yes" in refused.err
    deleted = cli("rm", session, "--yes", "--json")
    assert deleted.code == 0
    [told] = deleted.json
    assert told["deleted"] == session
    assert told["receipt"]["ended"]
    assert cli("ls", "--json").json == []
    gone = cli.ended("true")
    assert cli("rm", gone).out.startswith(f"deleted {gone[:8]}")


class Terminal(io.TextIOWrapper):
    """A user who types."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "code", "left"), [("\n", 1, 1), ("n\n", 1, 1), ("y\n", 0, 0)])
def test_rm_asks_and_no_is_the_default(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, typed: str, code: int, left: int
) -> None:
    session = cli.started("sleep", "600")
    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO(typed.encode())))
    assert run(["rm", session]) == code
    assert len(cli("ls", "--json").json) == left


def test_looking_at_a_terminal_marks_as_seen_and_has_colours(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    session = cli.ended("sh", "-c", "echo hello; exit 1")
    assert "\x1b" not in cli("show", session).out
    listed = cli("ls", "--json").json[0]
    assert (listed["unread"] > 0, listed["attention"]["kind"]) == (True, "failed")
    with monkeypatch.context() as patch:
        patch.setattr(sys.stdout, "isatty", lambda: True)
        assert "\x1b[31m" in cli("show", session).out
        patch.setenv("NO_COLOR", "1")
        assert "\x1b" not in cli("show", session).out
    listed = cli("ls", "--json").json[0]
    assert (listed["unread"], listed["attention"]["kind"]) == (0, "failed")
    cli("mark", session)
    assert cli("ls", "--json").json[0]["attention"] is None


def test_ls_takes_the_filter_of_the_dashboard(cli: Cli) -> None:
    cli("run", "--wait", "--title", "one that fails", "--", "false")
    cli("run", "--wait", "--title", "one that ends well", "--", "true")
    titles = [one["title"] for one in cli("ls", "--json", "--filter", "ends state:done !fails").json]
    assert titles == ["one that ends well"]
    assert "one that fails" in cli("ls", "-f", "state:failed").out
    assert "No matching sessions." in cli("ls", "-f", "nowhere").out
    wrong = cli("ls", "-f", "stat:failed")
    assert (wrong.code, "did you mean state:" in wrong.err) == (2, True)


def test_ls_shows_what_is_pinned_first(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("run", "--wait", "--title", "the older", "--", "true")
    older = cli("ls", "--json").json[0]["id"]
    cli("run", "--wait", "--title", "the newer", "--", "true")
    cli("pin", older)
    out = cli("ls").out
    assert "★ the older" in out or "^ the older" in out
    assert out.index("the older") < out.index("the newer")
    assert [one["title"] for one in cli("ls", "--json").json] == ["the newer", "the older"]
    monkeypatch.setattr("agentdash.tui.cli.commands.reading.listing._NEWEST", 0)
    assert "the older" in cli("ls").out


def test_ls_keeps_to_the_newest_and_what_matters(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped, failed = cli.started("sleep", "600"), cli.ended("false")
    cli("stop", stopped)
    monkeypatch.setattr("agentdash.tui.cli.commands.reading.listing._NEWEST", 0)
    rows = cli("ls").out
    assert failed[:8] in rows
    assert stopped[:8] not in rows
    assert rows.splitlines()[-1].endswith("and 1 more (--all)")
    assert stopped[:8] in cli("ls", "--all").out
    assert len(cli("ls", "--json").json) == 2
    done = cli.ended("true")
    assert done[:8] not in cli("ls").out  # an unread answer alone needs no decision
    assert cli("ls").out.splitlines()[-2:][0].startswith("1 needs you")


@pytest.mark.smoke
def test_explain_names_the_rule_and_its_facts(cli: Cli) -> None:
    session = cli.ended("false")
    result = cli("explain", session)
    assert result.code == 0
    assert "rule: " in result.out
    told = cli("explain", session, "--json").json
    assert told["session"] == session
    assert told["status"] == "failed"
    assert all(set(fact) == {"name", "value", "source"} for fact in told["facts"])


@pytest.mark.smoke
def test_retry_runs_a_failed_command_again(cli: Cli) -> None:
    session = cli.ended("false")
    result = cli("retry", session, "--wait", "--json")
    assert result.code == 1
    assert result.json["turn"] == 2
    done = cli.ended("true")
    refused = cli("inject", done, "more")
    assert refused.code == 1
    assert f"Run it again: agentdash retry {done[:8]}" in refused.err
    assert cli("retry", done, "--wait", "--json").json["turn"] == 2


def test_an_agent_that_did_well_has_nothing_to_retry(cli: Cli, codex: Path) -> None:
    cli("spawn", "--wait", "go")
    refused = cli("retry", "@last")
    assert refused.code == 1
    assert "nothing to retry" in refused.err


@pytest.mark.smoke
def test_spawn_trajectory_and_inject(cli: Cli, codex: Path) -> None:
    result = cli("spawn", "--wait", "do it")
    assert result.code == 0
    assert result.out == "[/red] fine\n"
    told = cli("trajectory", "@last", "--json").json
    assert [step["kind"] for step in told if step["kind"] in ("prompt", "message")] == ["prompt", "message"]
    assert all(list(step)[:4] == ["turn", "index", "kind", "text"] for step in told)
    followed = cli("inject", "@last", "--wait", "--json", "-", stdin="größer\n".encode())
    assert followed.code == 0
    assert followed.json["turn"] == 2
    assert Path(f"{codex}.stdin").read_text() == "größer"
    assert {step["turn"] for step in cli("trajectory", "@last", "--json", "--turn", "2").json} == {2}
    said = [step["text"] for step in cli("trajectory", "--messages", "@last", "--json").json]
    assert said == ["do it", "[/red] fine", "größer", "[/red] fine"]
    assert "── turn 2 ──" in cli("trajectory", "@last", "--full").out
    assert followed.json["usage"]["total_tokens"] == 12


def test_a_piped_prompt_needs_no_dash(cli: Cli, codex: Path) -> None:
    assert cli("spawn", "--wait", stdin=b"from a pipe").code == 0
    assert Path(f"{codex}.stdin").read_text() == "from a pipe"


def test_a_pipe_beside_a_prompt_is_appended_where_a_dash_asks_and_never_dropped_in_silence(
    cli: Cli, codex: Path
) -> None:
    assert cli("spawn", "--wait", "Review this", "-", stdin=b"+ a line\n").code == 0
    assert Path(f"{codex}.stdin").read_text() == "Review this\n\n+ a line"
    command = [sys.executable, "-m", "agentdash", "spawn", "--dry-run", "Review this"]
    done = subprocess.run(command, input=b"+ a line\n", capture_output=True, check=True)
    assert done.stderr == b"agentdash: stdin ignored; add - after the prompt to append it.\n"
    assert b"stdin: 11 bytes" in done.stdout
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert done.stderr == b""


def test_stdout_of_a_wait_is_the_whole_answer_and_nothing_else(cli: Cli, codex: Path) -> None:
    codex.write_text(FAKE_CODEX.replace("[/red] fine", "word " * 300))
    result = cli("spawn", "--wait", "talk")
    assert result.out == "word " * 300 + "\n"
    assert "✓ done" in result.err
    assert "agentdash trajectory --messages" in cli("show", "@last").out


def test_the_resume_command_continues_the_conversation_in_its_folder(cli: Cli, codex: Path, tmp_path: Path) -> None:
    folder = tmp_path / "its folder"
    folder.mkdir()
    assert cli("spawn", "--wait", "-C", str(folder), "talk").code == 0
    session = cli("ls", "--json").json[0]
    printed = cli("takeover", "--print", session["id"])
    assert printed.code == 0
    codex.write_text('#!/bin/sh\necho "$PWD: $*"\n')
    done = subprocess.run(["sh", "-c", printed.out], capture_output=True, text=True, check=True)
    modes = ["-s", "workspace-write", "-a", "on-request", "--"]
    assert done.stdout == f"{folder}: resume --no-daemon {' '.join(modes)} {session['agent_session']}\n"
    told = cli("takeover", "--print", session["id"], "--json").json
    assert told["command"] == printed.out.rstrip("\n")
    argv = [str(codex), "resume", "--no-daemon", *modes, session["agent_session"]]
    assert (told["cwd"], told["argv"]) == (str(folder), argv)
    folder.rmdir()
    gone = cli("takeover", "--print", session["id"])
    way = f"Continue it in another one: agentdash continue {session['id'][:8]} -C FOLDER"
    assert (gone.code, gone.err) == (2, f"agentdash: The folder {folder} does not exist. {way}\n")


def test_a_command_has_nothing_to_resume(cli: Cli) -> None:
    result = cli("takeover", "--print", cli.ended("true"))
    assert result.code == 2
    assert "no conversation to resume" in result.err


def test_a_dry_run_shows_the_command_and_starts_nothing(cli: Cli, codex: Path) -> None:
    result = cli("spawn", "--dry-run", "--model", "gpt-x", "-C", "/", "hello")
    assert result.code == 0
    assert result.out.startswith(str(codex))
    assert "gpt-x" in result.out
    told = cli("spawn", "--dry-run", "--json", "--danger", "hello").json
    assert "--dangerously-bypass-approvals-and-sandbox" in told["argv"]
    assert cli("ls", "--json").json == []


def test_view_reads_any_turn_file_and_guesses_the_agent(cli: Cli, codex: Path, tmp_path: Path) -> None:
    cli("spawn", "--agent", "codex", "--wait", "go")
    stream = cli("output", "@last").raw
    file = tmp_path / "anywhere.jsonl"
    file.write_bytes(b"WARN something\n" + stream)
    told = cli("view", str(file), "--json").json
    assert "message" in [step["kind"] for step in told]
    assert cli("view", "-", "--json", stdin=stream).json[-1]["kind"] == told[-1]["kind"]
    assert "✦ [/red] fine" in cli("view", str(file)).out
    lines = cli("view", str(file), "--agent", "command", "--json").json
    assert len(lines) == stream.count(b"\n") + 1


def test_view_reads_transcripts_and_counts_what_it_does_not_know(cli: Cli, tmp_path: Path) -> None:
    captures = CAPTURES / "transcripts"
    rollout, project = captures / "codex-resume.rollout.jsonl", captures / "claude-inject.project.jsonl"
    seen = cli("view", str(rollout))
    assert (seen.code, seen.err) == (0, "")
    assert "turn 5" in seen.out
    assert "[[fake:context_probe]] fourth turn" in seen.out
    assert "INJECTED while running: count lines" in cli("view", "-", stdin=project.read_bytes()).out
    odd = tmp_path / "odd.jsonl"
    odd.write_bytes(rollout.read_bytes() + b'{"type":"brand_new","payload":{}}\n')
    seen = cli("view", "--json", str(odd))
    assert (seen.code, json.loads(seen.err)) == (1, {"notice": {"message": "1 of 77 lines unknown."}})
    assert seen.json[-1]["event"] == "brand_new"
    seen = cli("view", "--agent", "claude-project", str(rollout))
    assert seen.code == 1
    assert seen.err == "agentdash: 76 of 76 lines unknown.\n"
    odd.write_text("nothing that anyone knows\n")
    seen = cli("view", str(odd))
    assert (seen.code, seen.out) == (1, "")
    assert "not a known transcript format (--agent command shows any text)." in seen.err


def test_view_reads_a_named_pipe(cli: Cli, tmp_path: Path) -> None:
    rollout = CAPTURES / "transcripts" / "codex-work.rollout.jsonl"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"cat '{rollout}' > '{pipe}'"]):
        assert cli("view", "--json", str(pipe)).json == cli("view", "--json", str(rollout)).json


def test_formats_that_are_only_read_cannot_be_started(cli: Cli) -> None:
    result = cli("spawn", "--agent", "codex-rollout", "go")
    assert result.code == 2
    assert "claude-project" not in result.err


def test_config_path_init_and_show(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    assert cli("config", "path").out == f"{path}\n"
    assert cli("config", "path", "--json").json == {"path": str(path), "exists": False}
    assert cli("config", "init").code == 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert cli("config", "init").code == 2
    assert "[agents.claude]" in cli("config", "show").out
    assert "terminate_seconds = 3.0" in cli("config", "show").out
    assert "default_agent" in cli("config", "show", "--json").json


def test_foreign_text_is_shown_literally(cli: Cli) -> None:
    session = cli("run", "--json", "--title", EVIL, "--", "printf", "%s", EVIL).json["id"]
    cli("wait", session)
    for verb in (
        ["ls"],
        ["show", session],
        ["trajectory", session],
        ["trajectory", "--messages", session],
        ["explain", session],
    ):
        out = cli(*verb).out
        assert not set(out) & set("\x1b\x07\u202e")
        if verb[0] != "explain":
            assert "[/red] list[int]" in out
    [told] = cli("ls", "--json").json
    assert told["title"] == EVIL


@pytest.mark.parametrize("verb", [["--help"], ["--version"], ["ls", "--json"], ["spawn", "--help"]])
def test_textual_is_never_imported_for_a_verb(cli: Cli, verb: list[str]) -> None:
    script = (
        "import sys; from agentdash.tui.cli.main import run; run(sys.argv[1:])\n"
        "assert not {'textual', 'rich', 'watchfiles'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, *verb], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_an_unexpected_error_is_one_line_and_a_log(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(SessionReader, "explain", broken)
    session = cli.ended("true")
    result = cli("explain", session)
    assert result.code == 1
    assert result.err == f"agentdash: Unexpected RuntimeError: boom. Details: {cli.home / 'cli.log'}.\n"
    assert "Traceback" in (cli.home / "cli.log").read_text()
    monkeypatch.setenv("AGENTDASH_DEBUG", "1")
    assert "Traceback" in cli("explain", session).err


def test_a_closed_pipe_is_no_error(cli: Cli) -> None:
    session = cli.ended("sh", "-c", f"yes {'y' * 99} | head -c 1000000")
    command = [sys.executable, "-m", "agentdash", "output", session]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"y" * 99 + b"\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_ctrl_c_while_waiting_leaves_the_session_running(cli: Cli) -> None:
    command = [sys.executable, "-u", "-m", "agentdash", "run", "--wait", "--", "sleep", "600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"running" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert b"sessions keep running" in process.stderr.read()
        assert process.wait() == 130
    assert cli("show", "@last", "--json").json["status"] == "running"


def test_ids_are_completed_with_state_and_task(cli: Cli) -> None:
    session = cli.ended("true")
    assert cli("completion", "bash").code == 0
    environment = os.environ | {
        "_AGENTDASH_COMPLETE": "zsh_complete",
        "COMP_WORDS": f"agentdash show {session[:2]}",
        "COMP_CWORD": "2",
    }
    assert _completed(environment)[:3] == ["plain", session[:8], "done  true"]
    assert _completed(environment | {"COMP_WORDS": "agentdash stop @"}) == []
    running = cli.started("sleep", "600")
    proposed = _completed(environment | {"COMP_WORDS": "agentdash stop "})
    assert proposed[1] == running[:8]
    assert "@last" in proposed
    assert session[:8] not in proposed
    modes = _completed(environment | {"COMP_WORDS": "agentdash spawn --sandbox read", "COMP_CWORD": "3"})
    assert modes[1] == "read-only"


def _completed(environment: dict[str, str]) -> list[str]:
    script = "import sys; from agentdash.tui.cli.main import run; sys.exit(run([]))"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=True)
    return done.stdout.decode().strip().splitlines()


def test_the_dashboard_needs_a_terminal(cli: Cli) -> None:
    result = cli()
    assert result.code == 2
    assert "needs a terminal" in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["spawn", ""], 2, "The prompt is empty"),
        (["spawn", " \n "], 2, "The prompt is empty"),
        (["spawn", "-"], 2, "The prompt is empty"),
        (["spawn"], 2, "The prompt is empty"),
        (["spawn", "--cwd", "/no/such", "x"], 2, "/no/such does not exist"),
        (["run", "--cwd", "/etc/passwd", "--", "true"], 2, "/etc/passwd is not a folder"),
        (["spawn", "--agent", "hal", "x"], 2, "Unknown agent 'hal'. Known agents: codex, claude"),
        (["spawn", "--set", "nothing", "x"], 2, "--set expects KEY=VALUE, not 'nothing'"),
        (["spawn", "--set", "surprise=1", "x"], 2, "Option surprise of codex: Unknown key."),
        (["spawn", "--sandbox", "none", "x"], 2, "Choose one of: read-only, workspace-write, danger-full-access."),
        (["spawn", "--sandbox", "read-only", "--danger", "x"], 2, "--danger cannot be combined with"),
        (["spawn", "fix", "the", "bug"], 2, "quote the prompt"),
        (["spawn", "--timeout", "nan", "x"], 2, "'nan' is not a valid duration"),
        (["spawn", "caf\udce9"], 2, "not UTF-8"),
        (["wait", "--timeout", "-1", "abcd"], 2, "'-1' is not a valid duration"),
        (["config"], 2, "Missing command"),
        (["demo"], 2, "needs a terminal"),
        (["show", "zzzz"], 1, "No session with id 'zzzz'"),
        (["stop", "zzzz"], 1, "No session with id"),
        (["show", ""], 2, "Empty session id"),
        (["stop", ""], 2, "Empty session id"),
        (["stop", "ab"], 2, "too short"),
        (["rm", "ab"], 2, "too short"),
        (["show", "@last"], 1, "No sessions yet"),
        (["inject", "zzzz", "x"], 1, "No session with id"),
        (["view", "/no/such.jsonl"], 2, "/no/such.jsonl: cannot be read"),
        (["view", "/etc"], 2, "/etc: cannot be read"),
        (["ls", "--status", "happy"], 2, "'happy' is not one of"),
        (["wait"], 2, "Missing argument"),
        (["fly"], 2, "Unknown command 'fly'"),
        (["run"], 2, "Missing argument"),
    ],
)
def test_bad_input(cli: Cli, arguments: list[str], code: int, message: str) -> None:
    result = cli(*arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert "Traceback" not in result.err
    if arguments[0] in ("config", "demo"):
        return  # these two have no --json of their own
    command = [arguments[0], "--json", *arguments[1:]] if arguments != ["fly"] else ["fly", "--json"]
    as_json = cli(*command)
    assert as_json.code == code
    assert message in as_json.error["message"]


def test_a_turn_that_never_was(cli: Cli) -> None:
    session = cli.ended("true")
    for verb in ("output", "trajectory"):
        result = cli(verb, session, "--turn", "9")
        assert (result.code, result.out) == (2, "")
        assert "has no turn 9: its newest is 1" in result.err


def test_one_unknown_id_among_several_says_that_nothing_was_done(cli: Cli) -> None:
    session = cli.started("sleep", "600")
    result = cli("stop", session, "zzzz")
    assert result.code == 1
    assert "no session was changed" in result.err
    assert cli("show", session, "--json").json["status"] == "running"


def test_an_id_may_be_typed_in_capitals(cli: Cli) -> None:
    session = cli.ended("true")
    assert cli("show", session.upper(), "--json").json["id"] == session


def test_an_ambiguous_prefix_lists_the_candidates(cli: Cli, similar_ids: str) -> None:
    sessions = [cli.ended("true") for _ in range(2)]
    result = cli("show", similar_ids)
    assert result.code == 2
    assert all(session[:13] in result.err for session in sessions)


def test_an_agent_that_is_not_installed_fails_at_once(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    result = cli("spawn", "--agent", "codex", "hello")
    assert result.code == 1
    assert "codex" in result.err
    assert "Traceback" not in result.err


def test_a_command_that_does_not_exist_fails_at_once(cli: Cli) -> None:
    result = cli("run", "--", "/no/such/program")
    assert result.code == 1
    assert "/no/such/program" in result.err
    [told] = cli("ls", "--json").json
    assert told["status"] == "failed"


def test_a_broken_setting_names_file_line_and_key(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[agents.codex]\nmodel = "x"\nsandbox = "foo"\n')
    result = cli("spawn", "hello")
    assert result.code == 2
    assert f"{path}:3: agents.codex.sandbox: Invalid enum value 'foo'" in result.err
    assert cli("ls", "--json").json == []


@pytest.mark.parametrize("home", ["/etc/passwd/state", "/proc/state"])
def test_a_state_folder_that_cannot_be_written(cli: Cli, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    monkeypatch.setenv("AGENTDASH_HOME", home)
    result = cli("ls")
    assert result.code == 1
    assert f"The state folder {home} cannot be used" in result.err
    assert cli("ls", "--json").error["type"] == "StoreError"


@pytest.mark.usefixtures("scripted_agent")
def test_a_prompt_into_a_running_session_waits_for_the_end_of_its_turn(cli: Cli) -> None:
    session = cli("spawn", "--agent", "scripted", "go [[script:silent]]", "--json").json["id"]
    result = cli("inject", session, "faster")
    assert (result.code, result.out) == (0, "queued #1, after turn 1\n")
    prompt = cli("inject", session, "and better", "--json").json["prompt"]
    assert (prompt["state"], prompt["turn"], prompt["position"]) == ("queued", None, 2)
    listed = cli("queue", session).out.splitlines()
    assert listed[0] == "2 queued, after turn 1"
    assert [line.split()[-1] for line in listed[1:]] == ["faster", "better"]


def test_a_command_takes_no_prompt_running_or_not(cli: Cli) -> None:
    session = cli.started("sleep", "600")
    running = cli("inject", session, "faster")
    assert (running.code, running.err) == (1, f"agentdash: Session {session[:8]} is a command and takes no prompts.\n")
    cli("stop", session, "--now")
    assert f"Run it again: agentdash retry {session[:8]}" in cli("inject", session, "faster").err


def test_a_prompt_that_is_no_text(cli: Cli) -> None:
    result = cli("spawn", "-", stdin=b"\xff\xfe")
    assert result.code == 2
    assert "not UTF-8" in result.err


def test_a_limit_that_can_never_act_is_refused_and_nothing_starts(cli: Cli, codex: Path) -> None:
    for arguments in (
        ("run", "--limit", "tokens=5", "--", "true"),
        ("run", "--limit", "cost=5", "--", "true"),
        ("spawn", "-m", "gpt-nope", "--limit", "cost=5", "go"),
        ("spawn", "-n", "2", "-m", "gpt-nope", "--limit", "cost=5", "go"),
        ("spawn", "-m", "gpt-nope", "--limit", "cost=5", "--dry-run", "go"),
        ("spawn", "--limit", "tokens=1.5", "go"),
    ):
        result = cli(*arguments)
        assert (result.code, result.out) == (2, ""), arguments
        assert "limit cannot work" in result.err or "is not a whole number" in result.err
    with (codex.parent / "config.toml").open("a") as file:
        file.write('[presets.dear]\nmodel = "gpt-nope"\n[presets.dear.limits]\ncost_usd = 1.0\n')
    assert cli("spawn", "--preset", "dear", "go").code == 2
    assert cli("ls", "--json").json == []


def test_a_limit_that_acts_late_or_perhaps_never_is_a_warning(cli: Cli, codex: Path, tmp_path: Path) -> None:
    with (codex.parent / "config.toml").open("a") as file:
        file.write("[limits]\ntokens = 5000\n")
    told = cli("run", "--wait", "--", "echo", "hello")
    assert (told.code, told.out) == (0, "hello\n")
    assert told.err.startswith("agentdash: The tokens limit cannot work: a command reports no tokens.\n")
    late = cli("spawn", "-a", "claude", "-m", "claude-nope", "--limit", "cost=5", "--dry-run", "go")
    assert (late.code, late.out.startswith("claude -p")) == (0, True)
    assert "agentdash: The cost limit is checked only when a turn ends: claude-nope has no price" in late.err
    many = cli("spawn", "-n", "2", "--limit", "cost=5", "--json", "go")
    assert [len(session["warnings"]) for session in many.json] == [1, 1]
    assert many.err.count("The cost limit works only if the model has a known price") == 1
    sure = cli("spawn", "-m", "gpt-5.5", "--limit", "cost=5", "--wait", "--json", "go")
    assert (sure.json["warnings"], sure.err) == ([], "")


def test_a_session_over_its_limit_takes_a_prompt_with_a_higher_limit(cli: Cli, codex: Path) -> None:
    session = cli("spawn", "--limit", "tokens=5", "--wait", "--json", "go").json["id"]
    refused = cli("inject", session, "more")
    assert (refused.code, refused.out) == (1, "")
    assert f"Session {session[:8]} is over its limit: it used more than 5 tokens (12)." in refused.err
    assert refused.err.rstrip().endswith(f'agentdash inject {session[:8]} --limit tokens=30 "…"')
    assert cli("inject", session, "--limit", "tokens=30", "--wait", "more").out == "[/red] fine\n"
    assert cli("show", session, "--json").json["turns"][1]["status"] == "done"
    assert cli("inject", session, "--limit", "speed=1", "more").code == 2


def test_a_stopped_turn_says_why_after_a_wait(cli: Cli) -> None:
    result = cli("run", "--limit", "wall=0.5", "--wait", "--", "sleep", "600")
    assert (result.code, result.out) == (1, "")
    assert "\nstopped by its limit: ran longer than 0.5s; " in result.err
    session = cli("ls", "--json").json[0]["id"]
    again = cli("retry", session, "--limit", "wall=0.6", "--wait")
    assert "\nstopped by its limit: ran longer than 0.6s; " in again.err
    assert "stopped by its limit: ran longer than 0.6s; " in cli("wait", session).out
