"""Check the terminal by the environment: its kind, its characters, its colours."""

from collections.abc import Iterator, Mapping

from ...text.terminal import has_colours, is_forced, is_utf8
from ..model import Finding, Subject, ok, warn


def terminal(subject: Subject) -> Iterator[Finding]:
    """Check kind, characters and colours."""
    yield kind(subject.env)
    yield characters(subject.env)
    yield ok("colours", colours(subject.env))


def kind(env: Mapping[str, str]) -> Finding:
    """Check whether its cursor can be moved."""
    term = env.get("TERM", "")
    if term in ("", "dumb", "unknown"):
        found = f"TERM is {term or 'not set'}: not supported by the dashboard"
        return warn("terminal", found, "use a terminal; over SSH: ssh -t")
    inside = "tmux" if env.get("TMUX") else "screen" if env.get("STY") else None
    return ok("terminal", f"{term}, inside {inside}" if inside else term)


def characters(env: Mapping[str, str]) -> Finding:
    """Check whether the locale is UTF-8."""
    locale = next(filter(None, map(env.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "C")
    if is_forced(env):
        return ok("characters", "ASCII (AGENTDASH_ASCII)")
    if is_utf8(locale):
        return ok("characters", f"UTF-8 ({locale})")
    found = f"the locale {locale} is not UTF-8"
    return warn("characters", found, "export LC_ALL=C.UTF-8, or AGENTDASH_ASCII=1")


def colours(env: Mapping[str, str]) -> str:
    """Return the number of colours, with its source."""
    if env.get("NO_COLOR"):
        return "none (NO_COLOR)"
    if not has_colours(env):
        return "none (TERM)"
    if env.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "16 million (COLORTERM)"
    return "256 (TERM)" if "256color" in env.get("TERM", "") else "16"
