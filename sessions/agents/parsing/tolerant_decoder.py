"""A decoder for events with fields of an unexpected type: it reads what fits, and omits and names the rest.

The next version of a CLI may change any field.  A changed field must cost only that field: not the step, and never the
end of a turn.  The strict decoder comes first, because it is fast; the tolerant decoder reads the lines it refuses.
"""

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw, Struct, inspect

from agentdash.sessions.agents.parsing.json_lines import NOT_JSON, UNREADABLE, declared_type_of_value
from agentdash.sessions.agents.parsing.json_repair import parsed, repaired, shallow
from agentdash.sessions.agents.parsing.line_parts import parts
from agentdash.sessions.model import typed

T = TypeVar("T")

_WHOLE = re.compile(r"([+-]?[0-9]{1,19})(?:\.0*)?")
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_MOST_ODD = 1_000
"""If more entries of a list have another type, the whole field counts as unreadable."""

_SHOWN = 60
"""Characters shown of an unreadable field's value."""


class Unread(Struct, frozen=True):
    """One field that could not be read."""

    name: str
    """The dotted path: ``usage.input_tokens``."""
    value: str
    """The beginning of its JSON, with numbers as they were printed."""


class Reading(Struct, Generic[T], frozen=True, kw_only=True):
    """The readable part of one line."""

    event: T | None = None
    """None if the line is not an event that the decoder knows."""
    kind: str
    """The types that the line gives itself."""
    unread: tuple[Unread, ...] = ()
    strange: tuple[str, ...] = ()
    """Types of list entries that the decoder does not know; the entries were omitted."""


class TolerantDecoder(Generic[T]):
    """Decodes JSON as one type: strictly by :meth:`decode`, tolerantly by :meth:`read` if that fails.

    Args:
        kind: the type, such as a union of tagged structs.
    """

    def __init__(self, kind: Any) -> None:
        self._decoder: msgspec.json.Decoder[T] = typed.decoder_of(kind)  # noqa: TID251 - a type
        self.decode = self._decoder.decode
        """Decode at full speed; raises one of :data:`.json_lines.UNREADABLE` if the line has any flaw."""

    @cached_property
    def _shape(self) -> inspect.Type:
        return inspect.type_info(self._decoder.type)

    def best(self, data: bytes | Raw) -> T | None:
        """Decode as much as possible; None if the data is not such a value at all."""
        try:
            return self.decode(data)
        except UNREADABLE:
            return self.read(bytes(data)).event

    def every(self, line: bytes) -> list[T]:
        """Decode each whole object of a line that may have others beside it, as much of it as possible."""
        try:
            return [self.decode(line)]
        except UNREADABLE:
            return [event for event in map(self.best, parts(line)) if event is not None]

    def read(self, line: bytes) -> Reading[T]:
        """Read a line as far as possible; never raises."""
        better = repaired(line)
        if better != line:
            with suppress(*UNREADABLE):
                return Reading(event=self._decoder.decode(better), kind="")
        try:
            return self._fitted(parsed(better))
        except RecursionError:
            with suppress(ValueError, RecursionError):
                return self._fitted(parsed(shallow(better.decode()).encode()))
            return Reading(kind="nested too deeply")
        except ValueError:
            return Reading(kind=NOT_JSON)

    def _fitted(self, data: Any) -> Reading[T]:
        kind = declared_type_of_value(data)
        fitting = _Fitting()
        try:
            fitted = fitting.fit(data, self._shape, "")
            event = self._decoder.decode(msgspec.json.encode(fitted, enc_hook=str))
        except (_UnfitError, msgspec.MsgspecError):
            return Reading(kind=kind)
        return Reading(event=event, kind=kind, unread=tuple(fitting.unread), strange=tuple(fitting.strange))


class _UnfitError(Exception):
    """A value that cannot be read as the expected type."""


class _Fitting:
    """Walks through a value and its expected type together, to the depth of the type, not of the value."""

    def __init__(self) -> None:
        self.unread: list[Unread] = []
        self.strange: list[str] = []

    def fit(self, value: Any, shape: inspect.Type, path: str) -> Any:
        """Return the parts of the value that fit; raises :class:`_UnfitError` if none does."""
        fitted: Any
        match shape:
            case inspect.Metadata(type=inner, extra=extra):
                words = bool(extra and extra.get("words"))
                if words and not isinstance(value, str):
                    fitted = _text(value)
                    if extra and extra.get("counted"):
                        self._leave_out(path, value)
                else:
                    fitted = self.fit(value, inner, path)
            case inspect.UnionType():
                fitted = self._one_of(value, shape, path)
            case inspect.StructType():
                fitted = self._struct(value, shape, path)
            case inspect.ListType(item_type=item):
                fitted = self._list(value, item, path)
            case inspect.TupleType(item_types=items):
                fitted = self._tuple(value, items, path)
            case inspect.DictType(value_type=inner):
                fitted = self._dict(value, inner, path)
            case _:
                fitted = _scalar(value, shape)
        return fitted

    def _one_of(self, value: Any, union: inspect.UnionType, path: str) -> Any:
        if value is None and union.includes_none:
            return None
        members = [shape for shape in union.types if not isinstance(shape, inspect.NoneType)]
        structs = [shape for shape in members if isinstance(shape, inspect.StructType)]
        if isinstance(value, dict) and structs:
            for struct in structs:
                if struct.tag_field is None or value.get(struct.tag_field) == struct.tag:
                    return self._struct(value, struct, path)
        others = [shape for shape in members if shape not in structs]
        for shape in sorted(others, key=lambda shape: not _is_natural(value, shape)):
            with suppress(_UnfitError):
                return self.fit(value, shape, path)
        raise _UnfitError

    def _struct(self, value: Any, shape: inspect.StructType, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _UnfitError
        fitted: dict[str, Any] = {}
        if shape.tag_field is not None:
            if value.get(shape.tag_field) != shape.tag:
                raise _UnfitError
            fitted[shape.tag_field] = shape.tag
        for field in shape.fields:
            name = field.encode_name
            # An unexpected null means the same as a missing field.
            if value.get(name) is not None or (name in value and _takes_none(field.type)):
                inner = f"{path}.{name}" if path else name
                try:
                    fitted[name] = self.fit(value[name], field.type, inner)
                except _UnfitError:
                    self._leave_out(inner, value[name])
                    if not field.required and _takes_none(field.type):
                        fitted[name] = None  # unknown, which the field's default may not be
            if field.required and name not in fitted:
                raise _UnfitError
        return fitted

    def _list(self, value: Any, shape: inspect.Type, path: str) -> list[Any]:
        """Return the entries that fit; a single value counts as a list of one."""
        if not isinstance(value, list):
            return [self.fit(value, shape, path)]
        unread, strange = len(self.unread), len(self.strange)
        fitted = list(self._entries(value, shape, f"{path}[]"))
        if value and not fitted and len(self.strange) == strange:
            del self.unread[unread:]
            raise _UnfitError
        return fitted

    def _entries(self, values: list[Any], shape: inspect.Type, path: str) -> Iterator[Any]:
        for entry in values:
            try:
                yield self.fit(entry, shape, path)
            except _UnfitError:
                if len(self.unread) + len(self.strange) >= _MOST_ODD:
                    raise
                if _is_tagged(shape) and isinstance(entry, dict):
                    self.strange.append(declared_type_of_value(entry))
                else:
                    self._leave_out(path, entry)

    def _tuple(self, value: Any, shapes: tuple[inspect.Type, ...], path: str) -> list[Any]:
        if not isinstance(value, list) or len(value) != len(shapes):
            raise _UnfitError
        return [self.fit(entry, shape, path) for entry, shape in zip(value, shapes, strict=True)]

    def _dict(self, value: Any, shape: inspect.Type, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _UnfitError
        fitted = {}
        for name, entry in value.items():
            try:
                fitted[name] = self.fit(entry, shape, f"{path}[]")
            except _UnfitError:
                self._leave_out(f"{path}[]", entry)
        return fitted

    def _leave_out(self, path: str, value: Any) -> None:
        text = _text(value)
        self.unread.append(Unread(path, text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"))


def _scalar(value: Any, shape: inspect.Type) -> Any:
    match shape:
        case inspect.AnyType() | inspect.RawType():
            return value
        case inspect.StrType() if isinstance(value, str):
            return value
        case inspect.BoolType():
            return _truth(value)
        case inspect.IntType():
            return _within(_whole(value), shape)
        case inspect.FloatType():
            return _within(_float(value), shape)
        case inspect.NoneType() if value is None:
            return None
        case _:
            raise _UnfitError


def _whole(value: Any) -> int:
    """Return a whole number; ``1``, ``1.0`` and ``"1"`` are all 1, True is not."""
    if isinstance(value, bool):
        raise _UnfitError
    if isinstance(value, int):
        return value
    match = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        return int(match[1])
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise _UnfitError


def _float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _UnfitError
    try:
        number = float(value)
    except ValueError:
        raise _UnfitError from None
    if not math.isfinite(number):
        raise _UnfitError
    return number


def _within(number: float, shape: "inspect.IntType | inspect.FloatType") -> float:
    low = shape.ge if shape.ge is not None else number
    high = shape.le if shape.le is not None else number
    if not low <= number <= high:
        raise _UnfitError
    return number


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).lower() if isinstance(value, int | str) else ""
    if text not in _TRUTHS:
        raise _UnfitError
    return _TRUTHS[text]


def _takes_none(shape: inspect.Type) -> bool:
    if isinstance(shape, inspect.UnionType):
        return shape.includes_none
    return isinstance(shape, inspect.AnyType | inspect.RawType | inspect.NoneType)


def _is_natural(value: Any, shape: inspect.Type) -> bool:
    """Return whether this member of a union is the natural one for the value."""
    shape = shape.type if isinstance(shape, inspect.Metadata) else shape
    kind = inspect.ListType if isinstance(value, list | dict) else inspect.StrType
    return isinstance(shape, kind)


def _is_tagged(shape: inspect.Type) -> bool:
    members = shape.types if isinstance(shape, inspect.UnionType) else (shape,)
    return any(isinstance(member, inspect.StructType) and member.tag_field is not None for member in members)


def _text(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=lambda numeral: Raw(numeral.encode())).decode()
