"""Images in prompts, with real codex and claude: what their requests to the model have."""

import struct
import subprocess
import sys
import zlib

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.prompts.prompter import PromptOptions

pytestmark = pytest.mark.real

PAIRS = [("codex", "0.169.0"), ("codex", "0.171.0"), ("claude", "2.1.197"), ("claude", "2.1.330")]


def png(shade):
    """A picture of 64 by 64 pixels of one shade."""
    rows = b"".join(b"\0" + bytes([shade]) * 64 for _ in range(64))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def pictures(request):
    """The data of all images in a request."""
    found = []

    def walk(part):
        if isinstance(part, dict):
            if part.get("type") == "image" and isinstance(part.get("source"), dict):
                found.append(part["source"]["data"])
            if part.get("type") == "input_image":
                found.append(part["image_url"].partition("base64,")[2])
            for value in part.values():
                walk(value)
        elif isinstance(part, list):
            for value in part:
                walk(value)

    walk(request)
    return found


@pytest.fixture(params=PAIRS, ids="-".join)
def agent(request, use_agent, monkeypatch):
    """Each agent, in this version."""
    name, version = request.param
    monkeypatch.setitem(use_agent.__globals__, "version_for", lambda *_: version)
    return use_agent(name)


@pytest.fixture
def shots(tmp_path):
    """A folder with two images."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name, shade in (("first.png", 20), ("second.png", 200)):
        (folder / name).write_bytes(png(shade))
    return folder


def ended(manager, session):
    [session] = manager.wait([session.id], timeout=120)
    assert session.status is Status.DONE, session.reason
    return session


def test_a_live_agent_is_sent_the_images_in_its_own_form(agent, manager, fake_model, shots):
    start = Start(
        "the first prompt", agent=agent, cwd=str(shots), options={"live": True}, images=(str(shots / "first.png"),)
    )
    session = ended(manager, manager.spawn(start))
    assert len(pictures(fake_model.asked("the first prompt")[-1])) == 1
    (shots / "first.png").unlink()  # the session has a copy
    sent = manager.prompts.inject(session.id, "the second prompt: look at @second.png please")
    session = ended(manager, session)
    assert sent.prompt.text.startswith("the second prompt: look at [image second.png ")
    found = pictures(fake_model.asked("the second prompt")[-1])
    assert len(found) == 2, "the first one is in the conversation"
    assert len(set(found)) == 2
    folder = manager.layout.session(session.id).images
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {
        "first.png": "0o600", "second.png": "0o600",
    }  # fmt: skip
    words = [sys.executable, "-m", "agentdash", "export", session.id]
    assert "[image second.png " in subprocess.run(words, check=True, capture_output=True, text=True).stdout


def test_a_process_of_one_turn_gets_them_as_arguments_or_says_that_it_takes_none(agent, manager, fake_model, shots):
    file = str(shots / "first.png")
    if agent == "claude":
        words = [sys.executable, "-m", "agentdash", "spawn", "-a", agent, "-C", str(shots), "--image", file, "hello"]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        assert done.returncode == 2
        assert "Claude Code takes no images in a process of one turn (live = false)." in done.stderr
        assert manager.reader.sessions() == []
        return
    session = ended(manager, manager.spawn(Start("the first prompt", agent=agent, cwd=str(shots), images=(file,))))
    assert len(pictures(fake_model.asked("the first prompt")[-1])) == 1
    manager.prompts.inject(session.id, "the second prompt", PromptOptions(images=(str(shots / "second.png"),)))
    session = ended(manager, session)
    assert len(set(pictures(fake_model.asked("the second prompt")[-1]))) == 2
    launch = manager.store.launch(session.id, 2)
    assert launch is not None
    assert "-i" in launch.argv
    assert launch.stdin == manager.store.prompts(session.id)[-1].text
