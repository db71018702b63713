"""The questions of a live agent that wait for the user, and the user's answers.  Values only, without I/O.

An agent asks before it runs a command, edits a file or uses a tool, and it asks questions of its own.  Its text is
hostile: front ends clean it before they show it.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

MOST_BODY_BYTES = 1024 * 1024
"""A longer body of an ask is cut in its row, and the ask can only be denied; no model writes as much in one call."""


class AskKind(StrEnum):
    """The kind of an ask."""

    COMMAND = "command"
    """Permission to run a command."""
    EDIT = "edit"
    """Permission to change files."""
    TOOL = "tool"
    """Permission to use another tool."""
    PERMISSIONS = "permissions"
    """Wider permissions, such as a folder or the network."""
    PLAN = "plan"
    """Approval of a plan."""
    QUESTION = "question"
    """An answer to questions, with options or in words."""
    FORM = "form"
    """Values of the fields of a form: an MCP server's elicitation."""


class Verdict(StrEnum):
    """The user's decision."""

    ALLOW = "allow"
    ALWAYS = "always"
    """Allow it, and the same for the rest of the session."""
    DENY = "deny"
    STOP = "stop"
    """Deny it and end the turn."""
    ANSWER = "answer"
    """Answers to questions, or the values of a form."""


class Choice(Struct, frozen=True, kw_only=True):
    """One option of a question."""

    label: str
    description: str = ""


class Question(Struct, frozen=True, kw_only=True):
    """One question, or one field of a form."""

    key: str
    """The name under which the agent expects the answer."""
    text: str
    header: str = ""
    choices: tuple[Choice, ...] = ()
    """The offered answers; empty for an answer in words."""
    several: bool = False
    """Several choices may be taken."""
    free: bool = True
    """An answer in words is accepted beside the choices."""
    secret: bool = False
    """The answer must not be shown or recorded."""
    required: bool = True
    type: str = "string"
    """The JSON type of a form's value: ``string``, ``number``, ``integer`` or ``boolean``."""
    default: tuple[str, ...] = ()
    """The values with which a form begins."""
    minimum: int | float | None = None
    maximum: int | float | None = None
    """The least and the greatest number."""
    min_length: int | None = None
    max_length: int | None = None
    """The least and the most characters."""
    min_items: int | None = None
    max_items: int | None = None
    """The least and the most choices."""
    format: str = ""
    """``email``, ``uri``, ``date`` or ``date-time``; any other is not checked."""
    pattern: str = ""
    """A regular expression that a part of the text must match."""


class Ask(Struct, frozen=True, kw_only=True):
    """One open question of an agent.  No text is cleaned or cut here."""

    key: str
    """Names it among the asks of one process; the answer carries it back."""
    kind: AskKind
    tool: str = ""
    """The tool that it would use: ``Bash``, ``apply_patch``."""
    title: str
    """One line without a subject: the act (``run: rm -rf build``, ``edit src/app.py``), or the question itself."""
    body: str = ""
    """The whole command, diff, arguments or plan."""
    cwd: str = ""
    """The folder in which it would act."""
    paths: tuple[str, ...] = ()
    """The files that it would change."""
    why: str = ""
    """The agent's reason."""
    verdicts: tuple[Verdict, ...] = (Verdict.ALLOW, Verdict.DENY, Verdict.STOP)
    """The decisions that the agent itself accepts, in its order."""
    always: str = ""
    """The scope of the agent's own ``always``; empty if it has none."""
    unplaced: bool = False
    """The agent may act in another folder than :attr:`cwd`, such as a worktree of its own."""
    each_time: bool = False
    """The agent requires the user's decision each time: no rule and no earlier answer allows it."""
    questions: tuple[Question, ...] = ()
    for_user: str = ""
    """The reason why only the user can allow it, as a clause, as its runner concluded; empty if a lead can."""
    left_out: str = ""
    """The parts that its row lacks, because it is too long: ``2,000 of 3,000 files``.  It can then only be denied."""


class Answer(Struct, frozen=True, kw_only=True):
    """The decision about an ask."""

    verdict: Verdict
    message: str = ""
    """Words for the agent: why it was denied."""
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The answers by :attr:`Question.key`; several if the question takes several."""
