"""What the tests of installing share: a copy of what is built, and a pip that says the most."""

import os
import shutil
import subprocess
import sys

import pytest
from places import ROOT

ROOMS = ("sessions", "tui", "widgets")


def copy_sources(copy):
    """Copy all that a build reads, without byte code."""
    for name in ("__init__.py", "__main__.py", "py.typed", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for room in (*ROOMS, "docs"):
        shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="module")
def builder(once_a_run, absent):
    """The Python of a new environment with the newest pip and setuptools, which say the most."""

    def fill(folder):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(folder)]
        argv = [*pip, "install", "--quiet", "--no-compile", "pip", "setuptools"]
        if subprocess.run(argv, check=False, capture_output=True, timeout=280).returncode != 0:
            absent("a package index with setuptools")

    return once_a_run("builder", fill) / "bin/python"


@pytest.fixture(scope="module")
def pip(builder):
    """Runs pip on a checkout; everything that it printed."""

    def run(command, *words, cwd):
        env = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        argv = [str(builder), "-m", "pip", command, "--no-deps", "--no-build-isolation"]
        done = subprocess.run(
            [*argv, *words], cwd=cwd, env=env, check=False, text=True, capture_output=True, timeout=280
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    return run
