"""Real output of live agents: what a process printed, and what it was written."""

from places import CAPTURES

from agentdash.sessions.agents.codex.app_server.parser import AppServerParser
from agentdash.sessions.model.session import Step

APP_SERVER = CAPTURES / "app-server"
NAMES = sorted(path.name for path in APP_SERVER.glob("*.jsonl") if ".in." not in path.name)


def lines_of(name: str) -> list[bytes]:
    """The lines that a process printed."""
    return (APP_SERVER / name).read_bytes().splitlines()


def read(name: str, *, until: bytes = b"") -> tuple[AppServerParser, list[Step]]:
    """The parser of a whole stream and the newest steps; ``until`` ends it behind the first line with these bytes."""
    parser = AppServerParser()
    steps: dict[int, Step] = {}
    for line in lines_of(name):
        steps |= {step.index: step for step in parser.feed(line, 7)}
        if until and until in line:
            break
    return parser, list(steps.values())
