"""The errors that the manager raises for a request of its caller.

Each error's text is written for the person who reads it: what happened, why, what to do.  What to do differs between
front ends: ``str(error)`` names the shell command, and a front end with keys words the error's ``remedy`` itself.
``exit_code`` is the command line's: 1 for "could not be done", 2 for "not a valid request".
"""

from enum import StrEnum


class Remedy(StrEnum):
    """The action that makes a refused request possible."""

    WAIT_OR_STOP = "wait or stop"
    """The session is at work: wait for its turn's end, or stop it."""
    STOP = "stop"
    """Processes of a lost turn still live: stop them."""
    RETRY = "retry"
    """The session is a command, which takes no prompt: run it again."""
    PROMPT = "prompt"
    """The session is done: send its next prompt."""
    RESTORE = "restore"
    """The session is in the trash: restore it."""
    RAISE_LIMIT = "raise limit"
    """The session has used up a limit: give it a higher one."""
    EXPLAIN = "explain"
    """A session does not react: read the facts behind its status."""
    CONTINUE = "continue"
    """The agent cannot go on in this session: continue its conversation in a new one."""
    DIAGNOSE = "diagnose"
    """The state folder cannot be used: have it checked."""


class AgentdashError(Exception):
    """A request that could not be carried out.

    Args:
        fact: what happened, and why.
        remedy: the action that helps, for front ends that word it themselves.
        shell: a sentence with the command that does it.
    """

    exit_code = 1

    def __init__(self, fact: str = "", remedy: Remedy | None = None, shell: str = "") -> None:
        super().__init__(" ".join(filter(None, (fact, shell))))
        self.fact = fact
        self.remedy = remedy


class UsageError(AgentdashError):
    """A request that is not valid: an empty prompt, a folder that does not exist."""

    exit_code = 2


class UnknownPriceError(AgentdashError):
    """A model without a price."""

    def __init__(self, model: str) -> None:
        super().__init__(f'{model!r} has no price. Import prices, or set [prices."{model}"] in the settings.')


class ConfigError(UsageError):
    """A setting that cannot be used; names file, line and key.  It blocks and never counts as "no settings"."""

    def __init__(self, message: str, line: int | None = None, key: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.line = line
        """The line of the file, if one line is the cause."""
        self.key = key
        """The key of the file, if one key is the cause."""


class UnknownSessionError(AgentdashError):
    """No session has this id."""


class AmbiguousSessionError(UsageError):
    """Several session ids begin with this text; the message lists them."""


class SessionBusyError(AgentdashError):
    """The session's state does not allow this now."""


class NotYoursError(AgentdashError):
    """An agent asked for a change of a session that is neither its own nor below it."""


class NotAllowedError(AgentdashError):
    """An agent asked for a session that it may not start: its folder, its agent, its permissions, or none at all.

    Args:
        code: a word that programs can compare: ``folder_not_allowed``, ``agent_not_allowed``, ``mode_not_allowed``,
            ``lead_deleted``.
        fact: what is not allowed, and what is.
        remedy: the next step.
    """

    def __init__(
        self, code: str, fact: str, remedy: str = "Ask the user, who can change [orchestration] in the settings."
    ) -> None:
        super().__init__(fact, None, remedy)
        self.code = code


class RefusalError(AgentdashError):
    """A call that is not carried out.

    Args:
        code: a word that programs can compare, such as ``not_yours``.
        text: the fact and the next step, in one or two lines.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


class StoreError(AgentdashError):
    """The state folder or its database cannot be used."""


class DiskFullError(StoreError):
    """The database could not be written because its disk is full."""


class ReadOnlyError(StoreError):
    """The state folder is read-only: it can be read, and nothing in it can be changed."""


class NewerStoreError(StoreError):
    """A newer agentdash wrote the store: it is intact, and this version must not change it."""


class OlderStoreError(StoreError):
    """An older agentdash wrote the store: it is intact, and this version can make a new one of the session folders.

    Args:
        fact: the versions, and the sessions that run.
        shell: the command that helps.
        runs: sessions of the older version run: they have to end first.
    """

    def __init__(self, fact: str, shell: str, *, runs: bool) -> None:
        super().__init__(fact, None, shell)
        self.runs = runs


class SaveError(AgentdashError):
    """A requested file could not be written; no part of it is left."""


class NotATranscriptError(AgentdashError):
    """A file with no readable step; the message says what it is instead, without the file's name."""
