"""Sessions of the real codex and claude in the dashboard: each is read with ``w`` alone, and rows show their plans."""

import re

import pytest
from isolation import work_folder

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.attention import rank
from agentdash.sessions.rules.launch import Start

pytestmark = pytest.mark.real

ENDS = {"denied": "files", "asks": "asks", "answers": "plain", "fails": "err400"}
"""By title, the scripted model's part."""

STRICT = {"codex": {"sandbox": "read-only"}, "claude": {"permission_mode": "default"}}
FREE = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}

DENIAL = {"codex": "1 permission denied: apply_patch", "claude": "1 permission denied: Write"}
ASKED = "Shall I delete the old table?"
FAILURE = "Invalid request: scripted."
ANSWER = "Hello. This is a plain answer with no tool calls."
DOING = re.compile(r"2/3 Freeze the clock · \$ for i in .*  \d+s ")
"""The second line of a running session."""


@pytest.fixture
def four(manager, agent, tmp_path):
    """Four ended sessions of one agent: its name, and their titles in the order of the table."""
    project = tmp_path / "project"
    project.mkdir()
    started = [
        manager.spawn(Start(f"[[fake:{part}]] go", agent=agent, cwd=str(project), title=title, options=STRICT[agent]))
        for title, part in ENDS.items()
    ]
    ended = manager.wait([session.id for session in started], timeout=120)
    assert {session.title: session.status for session in ended} == dict.fromkeys(ENDS, Status.DONE) | {
        "fails": Status.FAILED
    }
    needing = sorted(manager.reader.sessions(), key=lambda session: (rank(session), -session.created_at))
    return agent, [session.title for session in needing]


def beside(screen):
    """The steps pane: what is right of the split."""
    return "\n".join(line.rpartition("│")[2].strip() for line in screen.splitlines() if "│" in line)


def below(screen):
    """The line between the table and the footer, and the footer."""
    return "\n".join(screen.rstrip("\n").splitlines()[-2:])


def pressed(terminal, wait_until, part, *texts):
    """Press ``w``, and wait until this part of the screen has these texts."""
    terminal.keys("w")
    wait_until(lambda: all(text in part(terminal.screen) for text in texts), what=f"{texts} after w")


def test_w_alone_shows_each_need_of_a_real_agent_with_the_steps_beside(terminal, four, wait_until):
    agent, (first, *others) = four
    # codex reports a refusal on stderr, which is not part of its steps: the row names it.
    refused = "Claude requested permissions to write to" if agent == "claude" else "Created and edited src/app.py."
    texts = {"denied": refused, "asks": ASKED, "answers": ANSWER, "fails": FAILURE}
    terminal.start("agentdash")
    wait_until(lambda: texts[first] in beside(terminal.screen), what=f"{first}, which waits longest")
    assert '{"error"' not in terminal.screen
    assert DENIAL[agent] in terminal.screen
    for title in (*others, first):
        pressed(terminal, wait_until, beside, title, texts[title])


@pytest.mark.torture
def test_w_alone_shows_each_need_of_a_real_agent_on_a_small_terminal(open_terminal, four, wait_until):
    agent, (first, *others) = four
    texts = {"denied": DENIAL[agent], "asks": ASKED, "answers": ANSWER, "fails": FAILURE}
    rows = open_terminal()
    rows.start("agentdash", width=80, height=24)
    rows.shows(DENIAL[agent], ASKED, FAILURE, ANSWER[:30])

    lines = open_terminal()
    lines.start("agentdash", width=80, height=12)
    wait_until(lambda: texts[first] in below(lines.screen), what=f"{first}, which waits longest")
    for title in (*others, first):
        pressed(lines, wait_until, below, texts[title])


def test_the_row_of_a_real_agent_shows_its_open_task_and_its_command(
    terminal, manager, agent, tmp_path, monkeypatch, wait_until
):
    # claude 2.1.330 offers the tools of its plan to newer models only with this variable.
    monkeypatch.setenv("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1")
    part = "tasks" if agent == "claude" else "plan_slow"
    session = manager.spawn(Start(f"[[fake:{part}]] go", agent=agent, cwd=work_folder(tmp_path), options=FREE[agent]))
    terminal.start("agentdash")
    wait_until(lambda: DOING.search(terminal.screen), what="the task, and the command with its duration")
    (tmp_path / "go").touch()
    terminal.shows("✓ done", "The clock is frozen.")
    if agent == "claude":
        (tmp_path / "go").unlink()
        manager.prompts.inject(session.id, "[[fake:tasks_again]] go on")
        terminal.shows("3/4 Fix the bug · $ for i in")
        (tmp_path / "go").touch()
        terminal.shows("Two tasks are left.")
