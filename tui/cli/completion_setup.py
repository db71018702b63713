"""The variable by which a shell asks for completions, and what click needs to be told for it."""

COMPLETE = "_AGENTDASH_COMPLETE"
"""Set by the script that ``agentdash completion`` prints."""


def complete_whole_words() -> None:
    """Have click complete in bash by :class:`.bash_completion.WholeWords`."""
    from click.shell_completion import add_completion_class

    from agentdash.tui.cli.bash_completion import WholeWords

    add_completion_class(WholeWords)
