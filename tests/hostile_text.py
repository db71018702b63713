"""Texts with which an agent could try to leave its place in a document, or to hide something there."""

from typing import Any

from hypothesis import strategies as st

from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus, Usage

FRAGMENTS = [
    "<script>alert(1)</script>", "</script>", "</pre></details>", "<details>", "</details>", "<!--", "-->", "<![CDATA[",
    "]]>", "<style>", "</style>", "<img src=x onerror=alert(1)>", "![i](http://t.example/p.gif)", '"><b>', "' onload='",
    "[x](javascript:alert(1))", "[x](JaVaScript:alert(1))", "<javascript:alert(1)>", "[x](data:text/html,y)",
    "[x](&#106;avascript:y)", "[a]: http://e.example", "&#x202e;", "&lt;b&gt;", "```", "````", "~~~", "`", "``", "> ",
    "- ", "1. ", "    ", "# ", "| a | b |", "|-|-|", "\\", "\x1b[2J", "\x1b]0;title\x07", "\x07", "\x00", "\u202e",
    "\u2066", "\ud800", "\r", "\n", "\n\n", " ", "word", "ü", "\t", "{{x}}", "@@ -1 +1 @@", "+a", "-b", "%C2%9D",
    "<https://e.example/%E2%80%AE>", "Vec<T>", "<your-key>", "a < b", "***", "---", "===",
]  # fmt: skip

REMOVED = {"\x1b", "\x07", "\x00", "\u202e", "\u2066", "\ud800", "\r"}
"""Characters of the fragments that no document may hold."""

nasty = st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join)
"""Any of them in any order."""


def steps_saying(text: str) -> list[Step]:
    """A step of each kind with this text wherever one can stand."""
    usage = Usage(input_tokens=1)
    own: dict[str, Any] = {
        "text": text, "command": text, "output": text, "server": text, "tool": text, "arguments": {text: [text]},
        "model": text, "agent_session": text, "event": text, "usage": usage, "parent": None, "exit_code": 1,
        "changes": (Change(path=text, kind=text, diff=text),), "items": (PlanItem(text=text, status=text),),
    }  # fmt: skip
    kinds = [Step(index=n, kind=kind, status=StepStatus.FAILED, **own) for n, kind in enumerate(StepKind)]
    return [*kinds, Step(index=99, kind=StepKind.MESSAGE, text=text, parent="call"), Step(index=100, **_LAST)]


_LAST: dict[str, Any] = {"kind": StepKind.COMMAND, "command": "the last command", "text": "the last command"}
