"""Values of foreign and stored data by their types; every description of a type is made here.

msgspec 0.22.0 makes the description of a struct when it is first used, and publishes it before it is filled: a thread
that uses it meanwhile ends the process with SIGSEGV.  Here one thread makes descriptions at a time, and no value is
read by one that is not whole.
"""

import functools
import threading
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

_LOCK = threading.RLock()

_decoder_of = functools.cache(msgspec.json.Decoder)


def decoder_of(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return the JSON decoder of a type, which may be a union."""
    with _LOCK:
        return _decoder_of(kind)


@overload
def decode(data: bytes | str | msgspec.Raw, kind: type[T]) -> T: ...


@overload
def decode(data: bytes | str | msgspec.Raw, kind: Any = Any) -> Any: ...


def decode(data: bytes | str | msgspec.Raw, kind: Any = Any) -> Any:
    """Decode JSON as a value of a type.

    Raises:
        msgspec.MsgspecError, UnicodeDecodeError, RecursionError: it is not such a value.
    """
    return decoder_of(kind).decode(data)


@overload
def convert(value: Any, kind: type[T]) -> T: ...


@overload
def convert(value: Any, kind: Any) -> Any: ...


def convert(value: Any, kind: Any) -> Any:
    """Convert a value of plain types, as a TOML or JSON reader returns them, to a value of a type.

    Raises:
        msgspec.ValidationError: it is not such a value.
    """
    decoder_of(kind)
    return msgspec.convert(value, kind)
