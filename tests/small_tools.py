"""Three small tools for tests of the MCP server; run as a program, it is ``agentdash`` with these tools."""

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from agentdash.sessions.mcp.orchestration import registry
from agentdash.sessions.mcp.orchestration.registry import Tool
from agentdash.sessions.model.errors import RefusalError

if TYPE_CHECKING:
    from agentdash.sessions.mcp.orchestration.calls import Calls

COUNT_LIMIT = 99


class Place(Struct, frozen=True, forbid_unknown_fields=True):
    folder: str = "."


class CountArguments(Struct, frozen=True, forbid_unknown_fields=True):
    word: Annotated[str, Meta(description="The word to count.")]
    times: Annotated[int, Meta(ge=1, le=COUNT_LIMIT)] = 1
    case: Literal["upper", "lower"] = "lower"
    place: Place = Place()


class Counted(Struct, frozen=True, omit_defaults=True):
    text: str
    sessions: int = 0
    caller: str = ""
    call: str = ""


class SleepArguments(Struct, frozen=True, forbid_unknown_fields=True):
    seconds: float = 30.0


class SayArguments(Struct, frozen=True, forbid_unknown_fields=True):
    text: str = ""
    refuse: bool = False
    crash: bool = False


def count(calls: "Calls", arguments: CountArguments) -> Counted:
    text = " ".join([arguments.word] * arguments.times)
    caller = calls.manager.caller
    return Counted(
        text=text.upper() if arguments.case == "upper" else text,
        sessions=len(calls.manager.reader.sessions()),
        caller=caller.session or caller.lead or "",
        call=caller.call or "",
    )


def sleep(calls: "Calls", arguments: SleepArguments) -> str:
    calls.progress("asleep")
    calls.progress("still asleep")
    cancelled = calls.cancelled.wait(min(arguments.seconds, calls.client.wait_seconds))
    return "woken" if cancelled else f"slept {arguments.seconds:g} s"


def say(calls: "Calls", arguments: SayArguments) -> str:
    print("a stray line on stdout")
    if arguments.refuse:
        raise RefusalError("not_yours", "Session 1 is not yours. Next: list_sessions.")
    if arguments.crash:
        raise ValueError("a bug")
    return arguments.text


TOOLS = (
    Tool(
        name="count",
        title="Count words",
        description="Counts a word.",
        arguments=CountArguments,
        result=Counted,
        reads=False,
        module=__name__,
    ),
    Tool(
        name="sleep",
        title="Sleep",
        description="Sleeps for a while.",
        arguments=SleepArguments,
        result=None,
        reads=True,
        module=__name__,
    ),
    Tool(
        name="say",
        title="Say",
        description="Says a text.",
        arguments=SayArguments,
        result=None,
        reads=True,
        module=__name__,
    ),
)


def main() -> None:
    registry.TOOLS = TOOLS
    from agentdash.__main__ import main as agentdash

    agentdash()


if __name__ == "__main__":
    main()
