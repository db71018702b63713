"""The text of a settings file, and the errors in it: file, line and key.

A check reports the first fault.  To find all of them it runs again without that key.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct, structs

from agentdash.sessions.model import typed
from agentdash.sessions.model.errors import ConfigError
from agentdash.sessions.settings.toml_keys import Path as Key
from agentdash.sessions.settings.toml_keys import (
    assigns,
    at,
    culprit,
    dotted,
    error_line,
    key_at,
    line_of,
    part,
    without,
)

T = TypeVar("T")


class Source:
    """A settings file that was read; a missing one is empty.

    Args:
        text: its contents, if the caller has read it.

    Raises:
        ConfigError: it cannot be read, or is not valid TOML.
    """

    def __init__(self, path: Path, text: str | None = None) -> None:
        self.path = path
        self._begins: Counter[tuple[str, ...]] = Counter()
        """The number of items that were left out at the beginning of lists."""
        self.text = read_text(path) if text is None else text
        try:
            self.data: Mapping[str, Any] = tomllib.loads(self.text)
        except (ValueError, RecursionError) as error:  # tomllib's own error, a number of 5,000 digits, 5,000 brackets
            line = error_line(str(error), self.text)
            key = key_at(self.text, line, unclosed=str(error).startswith("Unclosed"))
            raise ConfigError(f"{path}:{line}: {f'{dotted(key)}: ' if key else ''}{error}", line, key) from None

    def convert(self, data: Any, kind: type[T], section: tuple[str, ...]) -> T:
        """Convert a part of the file to a value of its type.

        Raises:
            ConfigError: it is not valid; names the line and the key.
        """
        try:
            return typed.convert(data, kind)
        except msgspec.ValidationError as error:
            key, why = explained(error, kind)
            path = tuple(key.partition("[...]")[0].split(".")) if key else ()
            self.fail((*section, *culprit(data, path, lambda tried: _fault(tried, kind))), why)

    def fail(self, key: tuple[str, ...], why: str) -> NoReturn:
        """Raise the error for a key.

        Raises:
            ConfigError: always.
        """
        raise self.error(key, why)

    def line(self, key: tuple[str, ...]) -> int:
        """Return the line of a key, or of the nearest table around it."""
        return line_of(self.text, key)

    def error(self, key: tuple[str, ...], why: str) -> ConfigError:
        """Build the error for a key, with the key's line."""
        key = self._numbered(key, 1)
        line = self.line(key)
        return ConfigError(f"{self.path}:{line}: {'.'.join(key)}: {why}", line, key)

    def leave_out(self, key: tuple[str, ...]) -> bool:
        """Leave a key of the file out of its data, or the nearest table around it; return False if there is none.

        An item of a list is left out with all before it; errors of the others keep their numbers.
        """
        key = self._numbered(key, -1)
        while key and at(self.data, key) is None:
            key = key[:-1]
        if not key:
            return False
        name, index = part(key[-1])
        self.data = without(self.data, key)
        if index is not None:
            self._begins[*key[:-1], name] += index + 1
        return True

    def _numbered(self, key: tuple[str, ...], sign: int) -> tuple[str, ...]:
        """Return a key of the data with the numbers of the file, or with ``sign`` -1 the other way."""
        parts: tuple[str, ...] = ()
        for one in key:
            name, index = part(one)
            begins = self._begins[*parts, name] if index is not None else 0
            parts = (*parts, one if not begins else f"{name}[{(index or 0) + sign * begins}]")
        return parts


def _fault(data: Any, kind: type) -> str:
    """Return the first fault of a part of a file, in the words of msgspec; empty if there is none."""
    try:
        typed.convert(data, kind)
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def explained(error: msgspec.ValidationError, kind: type) -> tuple[str, str]:
    """Return the key that a validation error refers to, and the problem in words."""
    why, _, where = str(error).partition(" - at `$")
    key = where.rstrip("`").lstrip(".").removesuffix("[...]").rstrip(".")
    head, _, name = why.partition(" unknown field ")
    if head != "Object contains":
        choices = _choices(kind, key) if why.startswith("Invalid enum value") else ""
        return key, why.replace("`", "").replace(" | null", "") + "." + choices  # TOML has no null
    at = _type_at(kind, key)
    known = [f.encode_name for f in structs.fields(at)] if isinstance(at, type) else []
    name = name.strip("`")
    hint = f" Known keys: {', '.join(known)}." if known else ""
    return f"{key}.{name}" if key else name, f"Unknown key.{hint}"


def _choices(kind: type, key: str) -> str:
    """List the values of the enumeration at this place."""
    at = _type_at(kind, key)
    options = [option for arm in (at, *get_args(at)) for option in get_args(arm) if isinstance(option, str)]
    return f" Choose one of: {', '.join(options)}." if options else ""


def _type_at(kind: Any, key: str) -> Any:
    """Return the type at this place of a struct; None if the path leaves the structs."""
    for name in filter(None, key.split(".")):
        if not isinstance(kind, type) or not issubclass(kind, Struct):
            return None
        field = name.partition("[")[0]
        kind = next((f.type for f in structs.fields(kind) if f.encode_name == field), None)
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        if get_origin(kind) is tuple:
            kind = get_args(kind)[0]
    return kind


def read_text(path: Path) -> str:
    """Return the contents of a settings file; a missing one is empty.

    Raises:
        ConfigError: it cannot be read, or is not UTF-8 text.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}.") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: the file is not UTF-8 text.", line) from None


MOST = 100
"""Most faults that are reported."""

_COLUMN = re.compile(r"\(at line \d+, column (\d+)\)")


def faults(path: Path, check: Callable[[Source], object]) -> list[ConfigError]:
    """Return the faults of a file in the order of their lines.

    Args:
        check: raises a ConfigError for the first fault.
    """
    found: list[ConfigError] = []
    source = _parsed(path, found)
    left_out: set[Key] = set()
    while source is not None and len(found) < MOST:
        try:
            check(source)
        except ConfigError as error:
            if not any(key[:-1] == error.key for key in left_out):
                found.append(error)  # else it only follows from a key that was left out of its table
            key = _cause(error.key)
            if key in left_out or not source.leave_out(key):
                break
            left_out.add(key)
        else:
            break
    return sorted(found, key=lambda error: error.line or 0)


def _parsed(path: Path, found: list[ConfigError]) -> Source | None:
    """Return the part of the file that is TOML, and add what is not to the faults; None if the file cannot be read."""
    try:
        text = read_text(path)
    except ConfigError as error:
        found.append(error)
        return None
    lines = text.split("\n")
    told = False
    # Each round removes the line or the tail that is not TOML, so that the next round meets the next error.
    for _ in range(MOST):
        try:
            return Source(path, "\n".join(lines))
        except ConfigError as error:
            if not told:
                found.append(error)
            at = min((error.line or 1), len(lines)) - 1
            if told or not _is_whole(lines[at], str(error)):
                told = True  # what is said about the rest of a torn file may only follow from its first error
                lines = lines[: max((n for n in range(at + 1) if lines[n].lstrip().startswith("[")), default=0)]
            else:
                lines[at] = ""
    return None


def _is_whole(line: str, error: str) -> bool:
    """Return whether an error is in the value that this line begins, so that the other lines can be read without it."""
    column = _COLUMN.search(error)
    return assigns(line) and column is not None and int(column[1]) > line.index("=") + 1


def _cause(key: Key) -> Key:
    """Return what to leave out: without its agent, the other settings of a preset cannot be judged."""
    return key[:-1] if len(key) > 2 and key[-3] == "presets" and key[-1] == "agent" else key
