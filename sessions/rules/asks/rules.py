"""Decide an ask by the user's rules.

Rules save questions.  A rule without a command allows the commands that are understood (:mod:`.dangerous`).  One that
names a program allows that program with what follows; of a program of which forms are understood, those forms alone.
When a condition cannot be judged for certain, the user is asked: a rule that allows then does not fit, and a rule that
denies or asks keeps later rules from allowing.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct, structs

from agentdash.sessions.rules.asks.dangerous import (
    ALLOWABLE,
    can_remember,
    danger,
    not_understood,
    of_files,
    own_scope,
    unplaced,
)
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.rules.asks.other_names import may_be
from agentdash.sessions.rules.asks.places import is_in, paths_in, real, resolved
from agentdash.sessions.rules.asks.reader_forms import names_files
from agentdash.sessions.rules.asks.recorded import RULE
from agentdash.sessions.rules.asks.settings import AskRule
from agentdash.sessions.rules.asks.simple_command import Simple, commands, single

ALWAYS = "always for this session"
"""The author of an answer that the user gave before."""


class Decision(Struct, frozen=True):
    """The decision of the rules about an ask."""

    decide: Literal["allow", "deny", "ask"]
    by: str = ""
    """``rule: …`` or :data:`ALWAYS`; empty if no rule decided."""
    why: str = ""
    """The reason why the user is asked although a rule allows it, as a clause."""

    @property
    def answer(self) -> Answer | None:
        """The answer for the agent; None if the user is asked."""
        if self.decide == "deny":
            return Answer(verdict=Verdict.DENY, message=f"Denied by a {self.by}.")
        return Answer(verdict=Verdict.ALLOW) if self.decide == "allow" else None


def decide(rules: Sequence[AskRule], ask: Ask, *, agent: str, cwd: str, remembered: Iterable[Ask] = ()) -> Decision:
    """Return the decision of the first rule that fits.

    Args:
        ask: what the agent asks; untrusted, and not cut.
        cwd: the folder of the session, an absolute path.  An allowed ask without a rule's folder stays in it.
        remembered: asks that the user allowed for the rest of the session.
    """
    found, unsure = _first(rules, ask, agent, cwd)
    if found is not None and found.decide == "deny" and Verdict.DENY in ask.verdicts:
        return Decision("deny", f"{RULE}{found}")
    if can_remember(ask) and any(
        all(getattr(ask, name) == getattr(earlier, name) for name in ("kind", "tool", "title", "body", "cwd", "paths"))
        for earlier in remembered
    ):
        return Decision("allow", ALWAYS)
    if found is None or found.decide != "allow":
        return Decision("ask", f"{RULE}{found}" if found is not None else "")
    why = "a rule that denies or asks may apply" if unsure else _only_asked(found, ask, cwd)
    return Decision("ask" if why else "allow", f"{RULE}{found}", why)


def for_agent(ask: Ask, answer: Answer) -> Answer:
    """Return the answer as the agent takes it: an agent that remembers nothing is only allowed this once."""
    if answer.verdict is Verdict.ALWAYS and not own_scope(ask):
        return structs.replace(answer, verdict=Verdict.ALLOW)
    return answer


def _first(rules: Sequence[AskRule], ask: Ask, agent: str, cwd: str) -> tuple[AskRule | None, bool]:
    """Return the first rule that certainly fits, and whether one that restricts may have fitted before it."""
    unsure = False
    for rule in rules:
        fits = _fits(rule, ask, agent, cwd)
        if fits:
            return rule, unsure
        unsure = unsure or (fits is None and rule.decide != "allow")
    return None, unsure


def _fits(rule: AskRule, ask: Ask, agent: str, cwd: str) -> bool | None:
    """Return whether an ask fits all conditions of a rule; None if that is not certain."""
    if (rule.agent is not None and rule.agent != agent) or (rule.tool is not None and rule.tool != ask.tool):
        return False
    judged = {
        _fits_words(rule, ask) if rule.words else True,
        _fits_folder(rule.folder, ask, cwd) if rule.folder else True,
    }
    return False if False in judged else None if None in judged else True


def _fits_words(rule: AskRule, ask: Ask) -> bool | None:
    """Return whether a command has the words of a rule.

    Wider permissions for a command are more than the command: a rule that allows it does not fit them.
    """
    if ask.kind is not AskKind.COMMAND and (ask.kind is not AskKind.PERMISSIONS or rule.decide == "allow"):
        return False
    wanted, lines = rule.words, commands(ask.body)
    alone = single(ask.body)
    if alone is not None and alone[: len(wanted)] == wanted:
        return True
    if rule.decide == "allow":
        return False
    return None if lines is None or may_be(ask.body, wanted) else False


def _fits_folder(folder: str, ask: Ask, cwd: str) -> bool | None:
    """Return whether all paths of an ask are in a folder; None if some are, one is above it, or they are not known."""
    if ask.unplaced and (ask.kind is AskKind.COMMAND or unplaced(ask)):
        return None
    acts_in = resolved(ask.cwd, cwd)
    if ask.kind is AskKind.COMMAND:
        lines = commands(ask.body)
        if lines is None or (len(lines) > 1 and any(".." in word.split("/") for one in lines for word in one.words)):
            return None
        paths = list(_paths_of(lines, acts_in))
    else:
        paths = [form for path in ask.paths for form in _forms(path, acts_in)]
    places = {resolved(folder, cwd), real(folder, cwd)}
    inside = [any(is_in(path, place) for place in places) for path in paths]
    above = any(is_in(place, path) for path in paths for place in places)
    return None if not inside else True if all(inside) else None if any(inside) or above else False


def _paths_of(lines: Sequence[Simple], acts_in: str) -> Iterator[str]:
    """Yield the paths of commands, and the folder in which they run if one may act on it without naming it."""
    if not all(names_files(one.words[0]) and len(one.words) > 1 for one in lines):
        yield from _forms(acts_in, "/")
    for one in lines:
        for word in one.words[1:]:
            for path in paths_in(word):
                if path != "/dev/null":
                    yield from _forms(path, acts_in)


def _forms(path: str, cwd: str) -> tuple[str, str]:
    """Return a path as it is written, and as it leads to a file now."""
    return resolved(path, cwd), real(path, cwd)


def _only_asked(rule: AskRule, ask: Ask, cwd: str) -> str:
    """Return the reason why a rule cannot allow an ask, as a clause; empty if it can."""
    if Verdict.ALLOW not in ask.verdicts:
        return "the agent takes no permission"
    if ask.each_time:
        return "the agent requires the user each time"
    if ask.kind is AskKind.TOOL and not rule.tool:
        return "the rule names no tool"
    if ask.kind not in ALLOWABLE:
        return "only commands, edits and tools are allowed by a rule"
    return unplaced(ask) or _of_act(rule, ask, cwd)


def _of_act(rule: AskRule, ask: Ask, cwd: str) -> str:
    folder, acts_in = resolved(rule.folder or "", cwd), resolved(ask.cwd, cwd)
    if ask.kind is AskKind.COMMAND:
        return danger(ask.body, folder, acts_in) if rule.words else not_understood(ask.body, folder, acts_in)
    return of_files(ask, folder, acts_in)
