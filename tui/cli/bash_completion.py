"""Completion in bash of words with ``=`` and ``:``, which bash takes for several words.

Click (8.5) reads bash's words: it would complete ``--limit action=w`` as a prompt that begins with ``w``.
"""

import os

from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string

_BREAKS = "=:"
"""The characters of our words at which bash begins a word of its own (``COMP_WORDBREAKS``)."""


class WholeWords(BashComplete):
    """Reads the line itself, and prints the part of each word that bash replaces."""

    source_template = BashComplete.source_template.replace(
        "COMP_CWORD=$COMP_CWORD", 'COMP_CWORD=$COMP_CWORD COMP_BEGUN="${COMP_LINE:0:$COMP_POINT}"'
    ).replace("COMPREPLY+=($value)", 'COMPREPLY+=("$value"); [[ $value != *[=:] ]] || compopt -o nospace')

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the beginning of the word at it."""
        begun = os.environ.get("COMP_BEGUN", "")
        if not begun:
            return super().get_completion_args()
        words = split_arg_string(begun)[1:]
        return (words, "") if not words or (begun[-1].isspace() and not _quoted(begun)) else (words[:-1], words[-1])

    def format_completion(self, item: CompletionItem) -> str:
        """Return the line for a completion; within quotes a word is whole for bash too."""
        begun = os.environ.get("COMP_BEGUN", "")
        incomplete = "" if _quoted(begun) else self.get_completion_args()[1]
        if incomplete.startswith("-"):
            incomplete = incomplete.partition("=")[2]  # click completes the value of --option=value
        kept = max(incomplete.rfind(sign) for sign in _BREAKS) + 1
        return super().format_completion(CompletionItem(item.value[kept:], type=item.type))


def _quoted(line: str) -> bool:
    return line.count('"') % 2 == 1 or line.count("'") % 2 == 1


def complete_whole_words() -> None:
    """Have click complete in bash by :class:`WholeWords`."""
    add_completion_class(WholeWords)
