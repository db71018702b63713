"""Run many command lines of agentdash inside a session, each in a process of its own: ``from_inside.py SPEC ANSWERS``.

``SPEC`` is a JSON array of ``{words, env, away}``: ``env`` replaces variables (null: unset), and ``away`` leaves the
process tree by two forks first.  ``ANSWERS`` gets an array of ``[exit code, stderr]``.
"""

import importlib
import json
import os
import pkgutil
import sys
import tempfile
from pathlib import Path

import agentdash
from agentdash.tui.cli.main import run


def answer(words, env, away):
    """Run one command line in a child process."""
    with tempfile.TemporaryFile() as errors:
        receive, send = os.pipe()
        if (child := os.fork()) == 0:
            if away:
                os.setsid()
                if os.fork():
                    os._exit(0)
                while os.getppid() != 1 and not is_adopted():
                    os.sched_yield()
            for name, value in env.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            os.dup2(null, 1)
            os.dup2(errors.fileno(), 2)
            code = 99
            try:
                code = run(words)
            finally:
                os.write(send, str(code).encode())
                os._exit(0)
        os.close(send)
        answered = os.read(receive, 10)
        os.close(receive)
        os.waitpid(child, 0)
        errors.seek(0)
        return int(answered or -1), errors.read().decode()


PARENT = os.getpid()


def is_adopted():
    """Return whether the process is a child of neither this program nor of the process between them."""
    parent = Path(f"/proc/{os.getppid()}/cmdline").read_bytes()
    return b"sessions.runner.runner" in parent


for module in pkgutil.walk_packages(agentdash.__path__, "agentdash."):
    if module.name.startswith(("agentdash.sessions.", "agentdash.tui.cli.")) and "process" not in module.name:
        importlib.import_module(module.name)  # once, and not in each child
spec, answers = map(Path, sys.argv[1:])
done = [answer(**one) for one in json.loads(spec.read_text())]
answers.with_suffix(".part").write_text(json.dumps(done))
answers.with_suffix(".part").rename(answers)
