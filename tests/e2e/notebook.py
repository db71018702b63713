"""A stand-in for codex that notes each prompt that it gets, and waits at a gate if the prompt says so.

The thread of each session has the id of the session.
"""

import os
import weakref

SCRIPT = """#!/bin/sh
prompt=$(cat)
printf '%s\\n' "$prompt" >> {folder}/said
printf '%s\\n' "$*" >> {folder}/argv
case "$prompt" in
  *nameless*) ;;
  *) printf '{{"type":"thread.started","thread_id":"%s"}}\\n' "$AGENTDASH_SESSION_ID" ;;
esac
echo '{{"type":"turn.started"}}'
echo '{{"type":"item.completed","item":{{"id":"item_0","type":"agent_message","text":"heard"}}}}'
case "$prompt" in *gate*) [ -e {folder}/opened ] || read line < {folder}/gate ;; esac
case "$prompt" in *fail*) exit 1 ;; esac
echo '{{"type":"turn.completed","usage":{{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}}}'
"""


class Notebook:
    """The stand-in, and what it noted: it keeps its own record, which agentdash never reads."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        os.mkfifo(folder / "gate")
        self.command = folder / "codex"
        self.command.write_text(SCRIPT.format(folder=folder))
        self.command.chmod(0o700)

    @property
    def said(self):
        """The prompts that it got, a line each."""
        return self._lines("said")

    @property
    def argv(self):
        """The options of each of its turns."""
        return self._lines("argv")

    def open_gate(self):
        """Let the turn that waits go on; no later one waits."""
        (self.folder / "opened").touch()
        # The turn may see the file before it waits: a FIFO that is open for both never blocks this side.
        gate = os.open(self.folder / "gate", os.O_RDWR | os.O_CLOEXEC)
        weakref.finalize(self, os.close, gate)
        os.write(gate, b"\n")

    def _lines(self, name):
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []
