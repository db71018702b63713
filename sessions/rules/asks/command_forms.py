"""The options of a program as data, and a command read by them.

A command is understood if each of its words is one that the form of its program knows: a long option in full, short
ones alone or in a group, a value in the next word or in the same, operands behind ``--`` or before.  An abbreviation is
not in the data, so it is not understood, and neither is an option that a later version of the program adds.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

Takes = Literal["nothing", "value", "attached", "maybe", "next"]
"""``value``: in the next word or in the same; ``attached``: in the same; ``maybe``: in the same, or none; ``next``: in
the next word."""

_SHAPES: Mapping[str, Takes] = {"=": "value", ":": "attached", "?": "maybe", ">": "next"}
_SPEC = re.compile(r"(?P<name>-[A-Za-z0-9#.]|--[a-z0-9][a-z0-9-]*)(?:(?P<shape>[=:?>])(?P<kind>[NTPF]))?")
_NUMBER = re.compile(r"[+-]?[0-9]{1,12}(?:\.[0-9]+)?[A-Za-z]{0,3}")
_SIGNATURE = re.compile(r"%[^A-Za-z%]*G|signature")


class Option(Struct, frozen=True):
    """One option of a program."""

    takes: Takes = "nothing"
    kind: str = ""
    """Its value: ``N`` a number, ``T`` a text that the program neither opens nor runs, ``P`` a path that it reads,
    ``F`` a format or an order of git, in which ``%G`` or ``signature`` runs the program that checks signatures."""


Operands = Literal["none", "texts", "paths", "files", "pattern", "revisions", "pattern-revisions"]
"""``paths`` can be folders, ``files`` cannot.  ``pattern``: the first is a pattern unless an option gives it, and the
others are paths.  ``revisions``: those of git, or paths."""


class Form(Struct, frozen=True, kw_only=True):
    """The understood forms of a program, or of one of its verbs."""

    options: Mapping[str, Option] = field(default_factory=dict)
    operands: Operands = "none"
    most: int = 1_000
    """The most operands."""
    groups: bool = True
    """Short options can be in one word."""
    patterns: frozenset[str] = frozenset()
    """The options that give the pattern, or make it needless."""


class Read(Struct, frozen=True):
    """A command as its form reads it."""

    options: Sequence[tuple[str, str]]
    """The options with their values, in their order."""
    operands: Sequence[str]

    def has(self, *names: str) -> bool:
        """Return whether one of these options is there."""
        return any(name in names for name, _ in self.options)


def options(spec: str) -> dict[str, Option]:
    """Return the options that a text lists: ``-a -n=N --color?T``; ``-#`` is a number alone, as in ``head -5``."""
    found: dict[str, Option] = {}
    for word in spec.split():
        match = _SPEC.fullmatch(word)
        if match is None:
            raise ValueError(f"{word!r} is not a valid option")
        found[match["name"]] = Option(_SHAPES[match["shape"]], match["kind"]) if match["shape"] else Option()
    return found


def form_of(
    spec: str = "",
    operands: Operands = "none",
    *,
    most: int = 1_000,
    groups: bool = True,
    patterns: frozenset[str] = frozenset(),
) -> Form:
    """Return a form with the options that a text lists, as :func:`options` reads it."""
    return Form(options=options(spec), operands=operands, most=most, groups=groups, patterns=patterns)


def read(form: Form, words: Sequence[str]) -> Read | None:
    """Return the arguments of a program as its form reads them; None if one of them is not understood."""
    found: list[tuple[str, str]] = []
    operands: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            operands += rest
        elif word == "-" or not word.startswith("-"):
            operands.append(word)
        else:
            named = _named(form, word, rest)
            if named is None:
                return None
            found += named
    most = 0 if form.operands == "none" else form.most
    return Read(found, operands) if len(operands) <= most and "" not in operands else None


def _named(form: Form, word: str, rest: Iterator[str]) -> list[tuple[str, str]] | None:
    """Return the options in a word; a value in the next word is taken from the rest."""
    if re.fullmatch(r"-[0-9]{1,9}", word) and "-#" in form.options:
        return [("-#", word[1:])]
    if word.startswith("--"):
        name, given, value = word.partition("=")
        return _one(form, name, value if given else None, rest)
    if not form.groups or len(word) == 2:
        return _one(form, word[:2], word[2:] or None, rest)
    return _group(form, word[1:], rest)


def _one(form: Form, name: str, value: str | None, rest: Iterator[str]) -> list[tuple[str, str]] | None:
    option = form.options.get(name)
    if option is None or (value is not None and option.takes in ("nothing", "next")):
        return None
    if value is None and option.takes in ("value", "next"):
        value = next(rest, None)
        if value is None or value.startswith("-"):
            return None  # a program that takes no value here would read an option
    if value is None:
        return [(name, "")] if option.takes in ("nothing", "maybe") else None
    return [(name, value)] if _is_value(option.kind, value) else None


def _group(form: Form, letters: str, rest: Iterator[str]) -> list[tuple[str, str]] | None:
    found: list[tuple[str, str]] = []
    # The first letter that takes a value ends the group: the rest of the word is that value.
    for at, letter in enumerate(letters):
        option = form.options.get(f"-{letter}")
        if option is None:
            return None
        if option.takes != "nothing":
            last = _one(form, f"-{letter}", letters[at + 1 :] or None, rest)
            return None if last is None else found + last
        found.append((f"-{letter}", ""))
    return found


def _is_value(kind: str, value: str) -> bool:
    if kind == "N":
        return _NUMBER.fullmatch(value) is not None
    return not (kind == "F" and _SIGNATURE.search(value))
