"""A stand-in for codex with an interface of its own: what is said there goes into the thread's transcript."""

import json
import os
import sys
from contextlib import contextmanager

THREAD = "0190f7a2-0000-7000-8000-000000000001"
SCRIPT = """#!{python}
import json, os, sys, time
from pathlib import Path

folder = Path({folder!r})

def tell(**event):
    print(json.dumps(event), flush=True)

if "resume" not in sys.argv or "exec" in sys.argv:
    prompt = sys.stdin.read().strip()
    with (folder / "said").open("a") as said:
        said.write(prompt + chr(10))
    tell(type="thread.started", thread_id={thread!r})
    tell(type="turn.started")
    tell(type="item.completed", item={{"id": "item_0", "type": "agent_message", "text": "heard " + prompt}})
    tell(type="turn.completed", usage={{"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}})
    sys.exit()
(folder / "seen.json").write_text(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]))
(folder / "open").touch()
if (folder / "slice").exists():
    with (folder / "transcript").open("ab") as transcript:
        transcript.write((folder / "slice").read_bytes())
(folder / "spoken").touch()
while (folder / "stay").exists():
    time.sleep(0.01)
sys.exit(int((folder / "code").read_text()) if (folder / "code").exists() else 0)
"""


class OwnInterface:
    """The stand-in, and what happens in its interface: it says all that is given, at once, and stays if asked."""

    def __init__(self, folder):
        self.folder = folder
        day = folder / "home" / "sessions" / "2026" / "01" / "31"
        day.mkdir(parents=True)
        self.transcript = day / f"rollout-2026-01-31T12-00-00-{THREAD}.jsonl"
        self.transcript.write_bytes(said("before"))
        (folder / "transcript").symlink_to(self.transcript)
        self.command = folder / "codex"
        self.command.write_text(SCRIPT.format(python=sys.executable, folder=str(folder), thread=THREAD))
        self.command.chmod(0o700)

    @classmethod
    @contextmanager
    def in_use(cls, tmp_path, monkeypatch):
        """Make the codex that agentdash starts, until the end of a test."""
        folder = tmp_path / "stand-in"
        folder.mkdir()
        made = cls(folder)
        monkeypatch.setenv("CODEX_HOME", str(folder / "home"))
        with open(os.environ["AGENTDASH_CONFIG"], "a") as config:
            config.write(f"[agents.codex]\nlive = false\nbin = '{made.command}'\n")
        yield made
        made.leaves()

    def says(self, *texts):
        """Choose what is said by hand; return the bytes that this adds to the transcript."""
        return self.adds(b"".join(map(said, texts)))

    def adds(self, data):
        """Choose the bytes that are added to the transcript."""
        (self.folder / "slice").write_bytes(data)
        return data

    def stays(self):
        """Keep the interface open until :meth:`leaves`."""
        (self.folder / "stay").touch()

    def leaves(self):
        """Let the interface end."""
        (self.folder / "stay").unlink(missing_ok=True)

    def ends_with(self, code):
        """Choose the exit code of the interface."""
        (self.folder / "code").write_text(str(code))

    @property
    def has_spoken(self):
        """True once the interface has added all to the transcript."""
        return (self.folder / "spoken").exists()

    @property
    def seen(self):
        """The arguments, the environment and the folder of the interface."""
        return json.loads((self.folder / "seen.json").read_text())

    @property
    def whole_prompts(self):
        """All prompts of turns that agentdash started, as one text."""
        return "\n".join(self.prompts)

    @property
    def prompts(self):
        """The prompts of turns that agentdash started, a line each."""
        path = self.folder / "said"
        return path.read_text().splitlines() if path.exists() else []


def said(text):
    """The lines of a transcript for one prompt and its answer (codex-cli 0.169.0)."""
    content = [{"type": "input_text", "text": text}]
    payloads = (
        ("event_msg", {"type": "task_started", "turn_id": text}),
        ("response_item", {"type": "message", "role": "user", "content": content}),
        ("event_msg", {"type": "agent_message", "message": f"you said {text}"}),
        ("event_msg", {"type": "task_complete", "turn_id": text, "last_agent_message": f"you said {text}"}),
    )
    lines = ({"timestamp": "2026-01-31T12:00:00.000Z", "type": kind, "payload": own} for kind, own in payloads)
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
