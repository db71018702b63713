import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]

HANGING = """
import subprocess, sys, time
from watchdog import watched
child = subprocess.Popen(["sleep", "600"])
with watched("tests/test_it.py::test_it", float(sys.argv[1]), 2):
    time.sleep(float(sys.argv[2]))
child.kill()
"""


def run(seconds, hangs_for):
    """Run it to the end of all that has its output open."""
    argv = [sys.executable, "-c", HANGING, str(seconds), str(hangs_for)]
    return subprocess.run(argv, check=False, cwd=TESTS, capture_output=True, text=True, timeout=120)


def test_a_test_that_hangs_ends_with_the_programs_it_started_and_shows_where():
    done = run(0.5, 600)
    assert done.returncode == 1
    assert "tests/test_it.py::test_it did not end within 0.5 s\n" in done.stderr
    assert 'File "<string>", line 6 in <module>' in done.stderr


def test_a_test_that_ends_in_time_is_left_alone():
    done = run(600, 0)
    assert (done.returncode, done.stderr) == (0, "")
