"""What the tests of installing share: a copy of what is built, and a pip that says the most."""

import os
import shutil
import subprocess
import sys

import pytest
from places import BUILT_FILES, BUILT_FOLDERS, ROOT


def copy_sources(copy):
    """Copy all that a build reads, without byte code."""
    for name in BUILT_FILES:
        shutil.copy(ROOT / name, copy)
    for folder in BUILT_FOLDERS:
        unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / folder, copy / folder, ignore=unwanted, symlinks=True)
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
