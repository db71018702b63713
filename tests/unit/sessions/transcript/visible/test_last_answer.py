"""The last answer is found from the end, and read on for only as long as there is none."""

from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.transcript.mark_steps import FixedSection
from agentdash.sessions.transcript.session_steps import Growth
from agentdash.sessions.transcript.snapshot import View
from agentdash.sessions.transcript.visible.last_answer import last_answer


def growth(*kinds: StepKind, ahead: int = 0, trouble: str | None = None) -> Growth:
    steps = [Step(turn=1, index=index, kind=kind, text=f"{kind} {index}") for index, kind in enumerate(kinds)]
    return Growth(View([FixedSection(1, steps)]), ahead=ahead, trouble=trouble)


def found(*passes: Growth) -> tuple[int | None, int]:
    """The item, and the number of passes that were read."""
    left = list(passes)
    _, item = last_answer(lambda: left.pop(0))
    return item, len(passes) - len(left)


MESSAGE, COMMAND, ERROR = StepKind.MESSAGE, StepKind.COMMAND, StepKind.ERROR


def test_an_answer_at_the_end_ends_the_reading() -> None:
    assert found(growth(MESSAGE, MESSAGE, COMMAND, ahead=5), growth(MESSAGE)) == (1, 1)


def test_without_one_more_is_read() -> None:
    assert found(growth(COMMAND, ahead=5), growth(MESSAGE, COMMAND, COMMAND)) == (0, 2)


def test_an_error_stands_in_only_when_everything_is_read() -> None:
    assert found(growth(ERROR, COMMAND, ahead=5), growth(COMMAND, ERROR, COMMAND)) == (1, 2)


def test_what_cannot_be_read_ends_the_reading() -> None:
    assert found(growth(COMMAND, ahead=5, trouble="gone")) == (None, 1)
    assert found(growth()) == (None, 1)
