"""Values by their types: two threads that read the same type for the first time, and signals at the start."""

import subprocess
import sys

import pytest

from agentdash.sessions.model import typed

THREADS = """
import threading
from msgspec import Struct
from agentdash.sessions.model import typed

def late():
    "The type of a field; while it is looked for, another thread reads the struct."
    other.start()
    other.join(0.2)
    return int

class Inner(Struct):
    first: int
    second: "late()"

class Outer(Struct):
    inner: Inner

read = []
other = threading.Thread(target=lambda: read.append(typed.{how}({inner}, Inner)))
read.append(typed.{how}({outer}, Outer).inner)
other.join()
assert read == [Inner(1, 2), Inner(1, 2)], read
"""

IMPORT = """
import sys

class Interrupts:
    "Raises as a signal does, once, where msgspec imports datetime."
    times = 0

    def find_spec(self, name, path=None, target=None):
        if name == "datetime" and "msgspec" in sys.modules and not self.times:
            self.times += 1
            raise KeyboardInterrupt

sys.modules.pop("datetime", None)
sys.meta_path.insert(0, Interrupts())
import agentdash
import msgspec
print(msgspec.json.Decoder(list[int]).decode(b"[1]"))
"""


def ran(program):
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    return result.returncode, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("how", "inner", "outer"),
    [
        ("decode", """b'{"first": 1, "second": 2}'""", """b'{"inner": {"first": 1, "second": 2}}'"""),
        ("convert", "{'first': 1, 'second': 2}", "{'inner': {'first': 1, 'second': 2}}"),
    ],
)
def test_threads_that_read_a_type_for_the_first_time_each_get_a_whole_value(how, inner, outer):
    assert ran(THREADS.replace("{how}", how).replace("{inner}", inner).replace("{outer}", outer)) == (0, "", "")


def test_a_signal_while_datetime_would_be_imported_does_not_end_the_process_later():
    assert ran(IMPORT) == (0, "[1]\n", "")


def test_json_without_a_type_is_plain_values():
    assert typed.decode(b'{"a": [1, null]}') == {"a": [1, None]}
