"""The whole main job from the keyboard, with the real codex: start, watch, say more, stop, read the receipt."""

import pytest

from agentdash.sessions.model.session import Status

pytestmark = pytest.mark.real


def new_session(terminal, prompt):
    """Fill the dialog as a person does: the cursor stands in the prompt, Enter starts."""
    terminal.keys("n")
    terminal.shows("New session")
    terminal.type(prompt)
    terminal.keys("Enter")


@pytest.mark.smoke
def test_the_main_job_on_the_real_codex(terminal, codex_env, manager, tmp_path, leftovers, wait_until):
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "config.toml").write_text('default_agent = "codex"\n[agents.codex]\nsandbox = "danger-full-access"\n')
    terminal.start(f"cd {project} && agentdash")
    terminal.shows("n new")

    new_session(terminal, "[[fake:work]] make notes")
    terminal.shows("✓ done", "notes.txt", "✗ exit 3", "Done: notes.txt was created and edited.", timeout=60)
    assert (project / "notes.txt").read_text() == "first line\nsecond line, edited\n"

    terminal.keys("i")
    terminal.shows("(turn 2, at once)")
    terminal.type("[[fake:context_probe]] how much do you see?")
    terminal.keys("Enter")
    terminal.shows("turn 2", "I can see 2 user messages", timeout=60)
    terminal.keys("Escape")
    terminal.shows("n new")

    new_session(terminal, "[[fake:sleep600]] wait for it")
    terminal.shows("sleep 600", "● running", timeout=60)
    session = manager.reader.get("@last")
    wait_until(lambda: any("sleep 600" in p.command for p in manager.reader.processes(session.id)), what="the command")
    terminal.keys("x")
    terminal.shows("Stop", "sleep 600", "n cancel")
    terminal.keys("y")
    terminal.shows("processes ended", "0 left", "SIGINT")
    assert leftovers(session.id) == []
    assert manager.reader.get(session.id).status is Status.STOPPED

    terminal.keys("Enter")
    terminal.shows("■ stopped")
    terminal.keys("q")
    terminal.shows("exited 0")


def test_a_dashboard_killed_with_sigkill_takes_nothing_with_it(terminal, codex_env, manager, tmp_path, wait_until):
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "config.toml").write_text('[agents.codex]\nsandbox = "danger-full-access"\n')
    terminal.start(f"cd {project} && exec agentdash")
    terminal.shows("n new")
    new_session(terminal, "[[fake:parallel]] go")
    terminal.shows("● running")
    wait_until(lambda: manager.reader.get("@last").agent_session, timeout=60, what="the agent's first words")
    terminal.close()

    ended = manager.wait(["@last"], timeout=60)[0]
    assert ended.status is Status.DONE
    terminal.start(f"cd {project} && agentdash")
    terminal.shows("✓ done", "All three are back.")
