"""Files to which many processes append one JSON object a line while others read, and any of them may be killed.

Each line is one write, but a reader may see a part of it (the kernel copies page by page), and a process that is killed
in the middle leaves a part for ever.  So each write begins with a newline, too: what is torn spoils no other line.
"""

import json
from pathlib import Path


def as_line(record):
    """The bytes of one append."""
    return b"\n" + json.dumps(record).encode() + b"\n"


def append(path, record):
    """Append one record by one write."""
    with Path(path).open("ab", buffering=0) as file:
        file.write(as_line(record))


def records(data):
    """The records in these bytes, and how many of the bytes are whole lines: what follows is still being written.

    Raises:
        ValueError: a line is neither a record nor the beginning of one: the file would prove nothing.
    """
    whole = data.rfind(b"\n") + 1
    found = [record for line in data[:whole].split(b"\n") if (record := _record(line)) is not None]
    return found, whole


def _record(line):
    """The record of a line; None for an empty one, and for one whose writer was killed."""
    if not line:
        return None
    try:
        return json.loads(line)
    except ValueError:
        if line.startswith(b"{") and not line.endswith(b"}"):
            return None
        raise
