"""What verbs say beside their output, on stderr: a line of text, and with ``--json`` an object on a line."""

import json

import pytest
from recorded_sessions import lines, record, said
from verbs import verb

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.manager import SessionManager


def test_stderr_of_a_wait_is_text_or_json_alone(isolated):
    with SessionManager() as manager:
        failed = record(manager, [("fail", lines(said("an answer")))], last=Status.FAILED)
        waits = manager.spawn(Start("go on", agent="codex", cwd="/usr", after=failed.id))
    reason = f'{waits.short_id} "go on": {failed.short_id} failed: '
    text = verb("wait", waits.id, "--timeout", "0.01")
    assert text.returncode == 124
    assert text.stderr.startswith(f"agentdash: {reason}")
    told = verb("wait", waits.id, "--json", "--timeout", "0.01")
    assert (told.returncode, told.stdout) == (124, "")
    notice, error = map(json.loads, told.stderr.splitlines())
    assert notice["notice"]["message"].startswith(reason)
    assert error["error"]["type"] == "TimeoutError"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("view", "odd.jsonl"), "1 of 2 lines unknown."),
        (("config", "list", "--project", "project"), "is not trusted"),
    ],
    ids=lambda words: words[0],
)
def test_a_notice_is_json_if_the_output_is(isolated, monkeypatch, tmp_path, words, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.jsonl").write_text('{"type":"thread.started","thread_id":"t"}\nnoise\n')
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".agentdash.toml").write_text('[agents.codex]\nmodel = "m"\n')
    assert why in verb(*words).stderr.removeprefix("agentdash: ")
    [notice] = map(json.loads, verb(*words, "--json").stderr.splitlines())
    assert why in notice["notice"]["message"]
