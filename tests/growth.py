"""Does the work for a text grow faster than the text?  Measured by the processor time for n and 4 n characters.

Every regular expression of the package is found here by reading its source, and fed with texts made of its own
characters and of the beginnings of what it matches, so that none can be forgotten.
"""

import ast
import gc
import importlib
import re
import signal
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from places import ROOT

parse = re._parser  # type: ignore[attr-defined]  # the parse tree of a pattern has no public name

ROOMS = ("sessions", "widgets", "tui")
LENGTHS = (2_048, 32_768)
"""Characters of the texts: the shorter ones show most growth, the longer ones that of work that is fast at first."""
FAST_SECONDS = 0.6e-6
"""Per character: no growth can be told from noise below it."""
LONGER = 4
MUCH = 9.0
"""Growth with a text that is four times as long: 4 if the work is linear, 16 if it is quadratic."""
TRIES = 3
MOST_SECONDS = 2.0
ENDS = ("", "\x00~")
"""Of a text: the second one lets a match fail."""
ANY = "any name"
MOST = 20
"""Characters, and beginnings of matches, of one pattern that are tried."""
METHODS = ("match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer", "scanner")
USING = re.compile(rf"\.({'|'.join(METHODS)})\b")


class Pattern(NamedTuple):
    """A regular expression and how it is used."""

    where: str
    compiled: "re.Pattern[Any]"
    methods: frozenset[str]


class Attack(NamedTuple):
    """A text of any length: a beginning, a part that is repeated, and an end."""

    begin: str
    pump: str
    end: str

    def text(self, characters: int) -> str:
        return self.begin + self.pump * (characters // len(self.pump)) + self.end


class EndlessError(Exception):
    """The work took `MOST_SECONDS` of the processor."""


def seconds(work: Callable[[str], object], text: str) -> float:
    """Return the processor time of the work, `MOST_SECONDS` at most."""

    def end(*_: object) -> None:
        raise EndlessError

    before = signal.signal(signal.SIGPROF, end)
    gc.disable()  # it would look at all objects of the tests
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    begun = time.process_time()
    try:
        work(text)
    except EndlessError:
        return MOST_SECONDS
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        gc.enable()
    return time.process_time() - begun


def explodes(work: Callable[[str], object], attack: Attack, length: int) -> bool:
    """Return whether the work grows faster than the text.

    The first try that shows it does not is believed, and one that was ended.
    """
    for _ in range(TRIES):
        short = seconds(work, attack.text(length))
        if short < FAST_SECONDS * length:
            return False
        long = seconds(work, attack.text(LONGER * length)) if short < MOST_SECONDS else short
        if long < min(MUCH * short, MOST_SECONDS):
            return False
        if long >= MOST_SECONDS:
            return True
    return True


def growing(pattern: "Pattern") -> tuple[str, Attack] | None:
    """Return a use of a pattern whose work grows faster than a text, and such a text; None if there is none."""
    short, long = LENGTHS
    return next(
        (
            (method, attack)
            for attack in attacks(pattern.compiled)
            for method in sorted(pattern.methods)
            if explodes(use(pattern, method), attack, short)
            or (not attack.begin and explodes(use(pattern, method), attack, long))
        ),
        None,
    )


def modules() -> list[str]:
    paths = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    names = [".".join(("agentdash", *path.relative_to(ROOT).with_suffix("").parts)) for path in paths]
    return [name.removesuffix(".__init__") for name in names]


@cache
def patterns() -> tuple[Pattern, ...]:
    """Return every regular expression of the package, those that are written in a call included."""
    trees = {name: ast.parse(text) for name in modules() if has_patterns(name, text := source(name))}
    used: dict[tuple[str, str], set[str]] = {}
    found: dict[str, re.Pattern[Any]] = {}
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                used.setdefault((name, ast.unparse(node.value).rpartition(".")[2]), set()).add(node.attr)
                if node.attr != "split":  # of a text
                    used.setdefault((name, ANY), set()).add(node.attr)
        module = importlib.import_module(name)
        for attribute, value in vars(module).items():
            if isinstance(value, re.Pattern) and names(tree, attribute):
                found[f"{name}.{attribute}"] = value
    named = [Pattern(where, value, methods(where, used)) for where, value in found.items()]
    return (*named, *(pattern for name, tree in trees.items() for pattern in inline(name, tree)))


def has_patterns(name: str, text: str) -> bool:
    """Return whether a module may use or have a pattern: most have none, and are not parsed."""
    kept = vars(importlib.import_module(name)).values()
    return USING.search(text) is not None or any(isinstance(value, re.Pattern) for value in kept)


def methods(where: str, used: dict[tuple[str, str], set[str]]) -> frozenset[str]:
    """Return the methods of a pattern that are used: in its module, in all if it is public; else any that may be."""
    module, _, name = where.rpartition(".")
    own = used.get((module, name), set())
    if not name.startswith("_"):
        own = own.union(*(found for (_, other), found in used.items() if other == name))
    return frozenset(own or used.get((module, ANY), set()) or METHODS[:4])


def source(name: str) -> str:
    path = ROOT.joinpath(*name.split(".")[1:])
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text()


def names(tree: ast.Module, attribute: str) -> bool:
    """Return whether a module itself gives something this name, at its top."""
    targets = (target for node in tree.body for target in assigned(node))
    return any(isinstance(target, ast.Name) and target.id == attribute for target in targets)


def assigned(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) else []


def inline(name: str, tree: ast.Module) -> Iterator[Pattern]:
    """Yield the patterns that a module writes where it uses them: ``re.sub(r"…", …)``."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if ast.unparse(node.func.value) == "re" and node.func.attr in METHODS:
            try:
                pattern = eval(ast.unparse(node.args[0]), vars(importlib.import_module(name)))
            except NameError:
                continue  # the pattern is an argument of the function: its callers' names are found
            yield Pattern(f"{name}:{node.lineno}", re.compile(pattern), frozenset({node.func.attr}))


def attacks(pattern: "re.Pattern[Any]") -> Iterator[Attack]:
    """Yield texts that make a careless pattern begin, go on for long, and fail."""
    text = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    tree = parse.parse(text, flags)
    alphabet = spread(sorted(set(characters(tree))))
    begun = spread(sorted({"".join(part[:n]) for part in examples(tree) for n in range(1, len(part) + 1)}))
    seen = {Attack("", pump, end) for end in ENDS for pump in (*alphabet, *begun)}
    seen |= {Attack(begin, pump, ENDS[1]) for begin in begun for pump in (begin[-1], " a")}
    yield from sorted(seen)


def spread(texts: list[str]) -> list[str]:
    """Return `MOST` of the texts, from all parts of the list."""
    return texts[:: -(-len(texts) // MOST) or 1]


def characters(tree: Any) -> Iterator[str]:
    """Yield the characters that a pattern names, and one for each class."""
    for operation, value in tree:
        yield from SAMPLES.get(str(value), ()) if str(operation) == "CATEGORY" else ()
        match str(operation):
            case "LITERAL" | "NOT_LITERAL":
                yield chr(value)
            case "RANGE":
                yield chr(value[0])
            case "ANY":
                yield "x"
            case "IN":
                yield from characters(value)
            case _:
                yield from (char for part in parts(value) for char in characters(part))


SAMPLES = {"CATEGORY_DIGIT": "7", "CATEGORY_SPACE": " \n\t", "CATEGORY_WORD": "w_", "CATEGORY_NOT_SPACE": "w",
           "CATEGORY_NOT_WORD": "-", "CATEGORY_NOT_DIGIT": "w"}  # fmt: skip


def parts(value: Any) -> Iterator[Any]:
    """Yield the trees in a node's value, wherever they are."""
    if isinstance(value, parse.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from parts(inner)


def examples(tree: Any) -> list[list[str]]:
    """Return texts that a pattern matches, as their smallest pieces; one for each of its alternatives."""
    made: list[list[str]] = [[]]
    for operation, value in tree:
        more = [[char] for char in list(characters([(operation, value)]))[:1]]
        match str(operation):
            case "BRANCH":
                more = [example for branch in value[1] for example in examples(branch)]
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                more = [example * max(1, min(value[0], 40)) for example in examples(value[2])]
            case "SUBPATTERN" | "ATOMIC_GROUP":
                more = examples(next(parts(value)))
            case "IN":
                negated = str(value[0][0]) == "NEGATE"
                more = [["x"]] if negated else more
            case "ASSERT" | "ASSERT_NOT" | "AT" | "GROUPREF":
                more = [[]]
        made = [[*one, *other] for one in made for other in more or [[]]][:24]
    return made


def use(pattern: Pattern, method: str) -> Callable[[str], object]:
    """Return what the package does with a pattern, for any text."""
    call = getattr(pattern.compiled, method)
    encode = isinstance(pattern.compiled.pattern, bytes)

    def work(text: str) -> object:
        data: Any = text.encode("utf-8", "surrogatepass") if encode else text
        if method in ("sub", "subn"):
            return call(b"" if encode else "", data)
        return list(call(data)) if method == "finditer" else call(data)

    return work
