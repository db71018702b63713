"""What codex was not allowed to do: in the stream of some versions, on stderr in 0.169.0."""

import json

from agentdash.sessions.agents.registry import agent_named

CODEX = agent_named("codex")
STDERR = """\
Reading additional input from stdin...
2026-11-21T14:31:32.135Z ERROR codex_core::tools::router: error=patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings
2026-11-21T14:31:32.172Z ERROR codex_core::tools::router: error=apply_patch verification failed: No such file or directory (os error 2)
2026-11-21T14:31:58.013Z ERROR codex_core::tools::router: error=exec_command failed: CreateProcess { message: "Rejected(\\"`/bin/bash -lc 'rm -rf /etc/foo'` rejected: rm -f style commands are not permitted. Use a safer approach\\")" }
"""  # noqa: E501 - as codex prints it


def facts(*items):
    parser = CODEX.parser()
    for n, item in enumerate(items):
        event = {"type": "item.completed", "item": {"id": f"item_{n}", **item}}
        parser.feed(json.dumps(event).encode())
    return parser.facts


def command(text, output, *, exit_code=1, status="failed"):
    return {
        "type": "command_execution", "command": f"/bin/bash -lc '{text}'", "aggregated_output": output,
        "exit_code": exit_code, "status": status,
    }  # fmt: skip


def test_what_was_refused_is_counted_and_named():
    for item, names in [
        (command("touch a", "touch: cannot touch 'a': Read-only file system\n"), ["touch"]),
        (command("/usr/bin/git commit", "`git commit` rejected: blocked by policy", exit_code=-1), ["git"]),
        (command("sleep 1; echo x > /etc/a", "bash: line 1: /etc/a: Read-only file system\n"), ["echo"]),
        (command("sleep 1; echo x > /etc/a", "/bin/sh: 1: cannot create /etc/a: Read-only file system\n"), ["echo"]),
        (command("cd /etc && /bin/touch a", "touch: cannot touch 'a': Read-only file system\n"), ["touch"]),
        (command("ls; A=1 python3 x.py", "OSError: [Errno 30] Read-only file system: 'b'"), ["ls; A=1 python3 x.py"]),
        (command("A=1 python3 x.py", "OSError: [Errno 30] Read-only file system: 'b'"), ["python3"]),
        (command("make all && " + "x" * 99, "", status="declined"), ["make all && " + "x" * 47 + "…"]),
        (command("touch a; true", "touch: cannot touch 'a': Read-only file system\n", status="completed"), ["touch"]),
        (command("rm -rf x", "", exit_code=None, status="declined"), ["rm"]),
        ({"type": "file_change", "changes": [{"path": "a"}], "status": "declined"}, ["apply_patch"]),
        ({"type": "mcp_tool_call", "server": "docs", "tool": "write", "status": "declined"}, ["write"]),
        (command("make", "make: *** [all] Error 1"), []),
        (
            command("grep -r 'Read-only file system' .", "a: Read-only file system\n", exit_code=0, status="completed"),
            [],
        ),
        ({"type": "file_change", "changes": [{"path": "a"}], "status": "failed"}, []),
        ({"type": "agent_message", "text": "`x` rejected: y"}, []),
    ]:
        found = facts(item)
        assert (found.denied, found.denied_names) == (len(names), names), item


def test_refusals_that_only_stderr_tells_are_read_from_there():
    assert list(CODEX.complaints.refusals(STDERR)) == ["apply_patch", "rm"]
    assert list(CODEX.complaints.refusals("")) == []
    assert agent_named("claude").complaints is None


def test_names_are_few_and_short_however_many_refusals_there_are():
    found = facts(*[command(f"tool{n}{'x' * 10_000} y", "Read-only file system") for n in range(500)])
    assert found.denied == 500
    assert len(found.denied_names) <= 10
    assert max(map(len, found.denied_names)) <= 60
