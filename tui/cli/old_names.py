"""The old names of verbs, which go on to work for one release: each is rewritten into the words that do the same."""

from collections.abc import Sequence

NEW_WORDS = {
    "keys": ("config", "keys"),
    "logs": ("trajectory", "--lines=all", "--unmarked"),
    "marks": ("rewind", "--list"),
    "messages": ("trajectory", "--messages"),
    "mode": ("set", "--mode"),
    "model": ("set", "--model"),
    "peek": ("tail", "--once", "--lines=5"),
    "plan": ("usage", "plan"),
    "presets": ("config", "presets"),
    "prices": ("usage", "prices"),
    "replay": ("trajectory", "--replay"),
    "reprice": ("usage", "reprice"),
    "resume-command": ("takeover", "--print"),
    "table": ("ls", "--table"),
    "templates": ("config", "templates"),
}
"""The words of each old name; of ``logs`` those without ``--follow``, and of ``mode`` and ``model`` without the value.

They are in no help, reference or completion.
"""


def renamed(words: Sequence[str]) -> list[str]:
    """Return a command line, a verb and its arguments, with the new words."""
    verb, *rest = words
    if verb not in NEW_WORDS:
        return [*words]
    if verb == "logs" and (followed := _followed(rest)) is not None:
        return ["tail", "--lines=all", *followed]
    if verb == "messages":
        rest = ["--numbers" if word == "-n" else word for word in rest]
    if verb in ("mode", "model"):
        return ["set", *_with_value(f"--{verb}", rest)]
    return [*NEW_WORDS[verb], *rest]


def _followed(rest: Sequence[str]) -> list[str] | None:
    """Return the arguments of ``logs --follow`` for ``tail``; None if it does not follow."""
    found = [word for word in rest if word not in ("-f", "--follow")]
    found = [f"-{word[2:]}" if word.startswith("-f") else word for word in found]  # -fn 5
    return found if found != [*rest] or "--follow-turns" in rest else None


def _with_value(option: str, rest: Sequence[str]) -> list[str]:
    """Return the arguments with the second of them, ID and VALUE, as the value of an option."""
    options = [word for word in rest if word.startswith("-") and word != "--"]
    words = [word for word in rest if word not in options and word != "--"]
    return [*options, *words[:1], *(f"{option}={word}" for word in words[1:2]), *words[2:]]
