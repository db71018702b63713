"""What can go wrong when somebody asks the manager for something.

Each error's text is written for the person who reads it: what happened, why, what to do.
``exit_code`` is the command line's: 1 for "could not be done", 2 for "not a valid request".
"""


class AgentdashError(Exception):
    """A request that could not be carried out."""

    exit_code = 1


class UsageError(AgentdashError):
    """A request that is wrong as it stands: an empty prompt, a folder that does not exist."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting that cannot be used; names file, line and key.  It blocks: never "no settings"."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        """The line of the file, where it is one line's fault."""


class UnknownSessionError(AgentdashError):
    """No session has this id."""


class AmbiguousSessionError(UsageError):
    """Several sessions begin with this text; the message lists them."""


class SessionBusyError(AgentdashError):
    """The session is in a state in which this cannot be done now."""


class StoreError(AgentdashError):
    """The state folder or its database cannot be used."""


class DiskFullError(StoreError):
    """The database could not be written because its disk is full."""


class ReadOnlyError(StoreError):
    """The state folder cannot be written: it can be read, and nothing in it can be changed."""


class NewerStoreError(StoreError):
    """A newer agentdash wrote it: it is whole, and this one must not touch it."""


class SaveError(AgentdashError):
    """A file that somebody asked for could not be written; nothing of it is left."""


class NotATranscriptError(AgentdashError):
    """A file of which no step can be read; the message says what it is instead, without the file's name."""
