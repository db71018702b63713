"""A conversation retold in a prompt, for an agent that does not remember it."""

from collections.abc import Iterable

from ..model import Step, StepKind


def retold(cwd: str, steps: Iterable[Step], prompt: str) -> str:
    """Return the visible conversation and the new prompt.

    Used only if there is nothing to resume: the earlier turn ended before the agent named its conversation.
    """
    conversation = [step for step in steps if step.kind in (StepKind.PROMPT, StepKind.MESSAGE) and step.text.strip()]
    if not any(step.kind is StepKind.MESSAGE for step in conversation):
        return prompt
    names = {StepKind.PROMPT: "USER", StepKind.MESSAGE: "ASSISTANT"}
    lines = [f"This continues an earlier conversation in {cwd}.", ""]
    lines += [f"{names[step.kind]}: {step.text}" for step in conversation]
    return "\n".join([*lines, "", f"USER: {prompt}", "", "Continue from where you left off."])
