"""The errors that the manager raises for a request of its caller.

Each error's text is written for the person who reads it: what happened, why, what to do.
``exit_code`` is the command line's: 1 for "could not be done", 2 for "not a valid request".
"""


class AgentdashError(Exception):
    """A request that could not be carried out."""

    exit_code = 1


class UsageError(AgentdashError):
    """A request that is not valid: an empty prompt, a folder that does not exist."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting that cannot be used; names file, line and key.  It blocks and never counts as "no settings"."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        """The line of the file, if one line is the cause."""


class UnknownSessionError(AgentdashError):
    """No session has this id."""


class AmbiguousSessionError(UsageError):
    """Several session ids begin with this text; the message lists them."""


class SessionBusyError(AgentdashError):
    """The session's state does not allow this now."""


class StoreError(AgentdashError):
    """The state folder or its database cannot be used."""


class DiskFullError(StoreError):
    """The database could not be written because its disk is full."""


class ReadOnlyError(StoreError):
    """The state folder is read-only: it can be read, and nothing in it can be changed."""


class NewerStoreError(StoreError):
    """A newer agentdash wrote the store: it is intact, and this version must not change it."""


class SaveError(AgentdashError):
    """A requested file could not be written; no part of it is left."""


class NotATranscriptError(AgentdashError):
    """A file with no readable step; the message says what it is instead, without the file's name."""
