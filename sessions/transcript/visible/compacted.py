"""A compacted conversation, retold in a prompt for an agent that does not know it.  Pure.

The user's requests are those that agentdash recorded, each whole and in order: no model is trusted to repeat them.
Each part is between two lines of ``=``, more of them in a row than any part contains, so no text can pass for another
speaker's.
"""

import re
from collections.abc import Iterable, Sequence

from ...agents.expanding import Expansions
from ...model import Step, StepKind

_LEAST = 5
_RUN = re.compile(r"=+")


def retold_compacted(
    cwd: str,
    requests: Sequence[str],
    summary: str,
    later: Iterable[Step],
    prompt: str,
    *,
    by: str = "",
    expands: Expansions,
) -> str:
    """Return the summary of a conversation with what the user asked for before it and all that follows it.

    Args:
        cwd: the folder of the session.
        requests: the user's requests that the summary covers, oldest first.
        summary: the summary.
        later: the prompts and messages since then; other steps are left out.
        prompt: what the user asks for next; it comes last, behind the final line of ``=``.
        by: the author of the summary.
        expands: what the agent replaces in a prompt; all but ``prompt`` is made inert.
    """
    count = len(requests)
    parts = [(f"request {number} of {count}, by the user", text) for number, text in enumerate(requests, 1)]
    parts.append((f"summary of the work on {'this request' if count == 1 else 'these requests'}{_author(by)}", summary))
    parts += [(_SPEAKERS[step.kind], step.text) for step in later if step.kind in _SPEAKERS]
    line = _line_beside(text for _, text in parts)
    blocks = (f"{line} {title}\n{text}\n" for title, text in parts)
    beginning = (
        f"This continues an earlier conversation in {cwd}, which was compacted.  The user's requests before that are"
        " in the user's own words; a summary stands for everything else.\n\n"
    )
    told = f"{beginning}{''.join(blocks)}{line}"
    return f"{expands.quoted(told)}\n\n{prompt}"


_SPEAKERS = {StepKind.PROMPT: "user, after the summary", StepKind.MESSAGE: "assistant, after the summary"}


def _author(by: str) -> str:
    return f", by {by}" if by else ""


def _line_beside(texts: Iterable[str]) -> str:
    """Return a row of ``=`` that is in none of the texts."""
    longest = max((len(run) for text in texts for run in _RUN.findall(text)), default=0)
    return "=" * max(_LEAST, longest + 1)
