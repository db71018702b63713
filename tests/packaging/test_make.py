"""What ``make`` prints while it installs: one line, and pip's errors."""

import os
import shutil
import subprocess

import pytest
from places import ROOT

PYTHON = """\
#!/bin/sh
# Stands in for Python and for the environment's Python: makes the environment, and is pip.
case "$*" in
  -c*) exit 0 ;;
  "-m venv"*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  "-m pip"*) echo "$*" >> pip.log; %s ;;
esac
"""


@pytest.fixture
def checkout(tmp_path, require_tool):
    """A folder with the Makefile, and a function that makes a target with a stand-in for pip."""
    require_tool("make")
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)

    def make(target, pip="true"):
        python = tmp_path / "python"
        python.write_text(PYTHON % pip)
        python.chmod(0o755)
        env = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
        argv = ["make", "-C", str(tmp_path), "--no-print-directory", f"PYTHON={python}", target]
        return subprocess.run(argv, env=env, check=False, capture_output=True, text=True)

    make.folder = tmp_path  # type: ignore[attr-defined]
    return make


def test_an_install_prints_one_line_and_the_next_one_none(checkout):
    first = checkout(".venv/.installed")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == "Installing agentdash into .venv (about a minute the first time)…\n"
    assert (checkout.folder / "pip.log").read_text() == "-m pip install -qq --editable .\n"
    again = checkout(".venv/.installed")
    assert "Installing" not in again.stdout
    assert (checkout.folder / "pip.log").read_text().count("\n") == 1


def test_an_error_of_pip_is_shown_and_the_next_make_tries_again(checkout):
    failed = checkout(".venv/.installed", pip="echo 'ERROR: no route to the index' >&2; exit 1")
    assert failed.returncode == 2
    assert "ERROR: no route to the index" in failed.stderr
    assert checkout(".venv/.installed").returncode == 0


def test_the_demo_installs_nothing_that_only_the_tests_need(checkout):
    checkout("demo")
    assert "[dev]" not in (checkout.folder / "pip.log").read_text()
    checkout("lint")
    assert (checkout.folder / "pip.log").read_text().endswith("--editable .[dev]\n")
