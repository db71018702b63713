"""The keys that change the conversation of a session from one of its steps: rows of the registry in ``actions``."""

CONVERSATION_KEYS = (
    ("fork", "B", "fork", "fork here: a new session goes on from this step", 1, "conversation('fork')"),
    ("rewind", "minus", "go back", "go back to this step, or ask it otherwise", 1, "conversation('rewind')"),
    ("undo", "u", "take back", "take back the last step back, else undo the last delete", 0, "conversation('undo')"),
    ("compact", "C", "compact", "go on from a summary of the conversation", 0, "conversation('compact')"),
)
"""Name, keys, label, help, weight in the footer, and Textual's action; each changes a session."""

CONVERSATION_IDS = frozenset(f"steps.{name}" for name, *_ in CONVERSATION_KEYS if name != "undo")
"""The actions that need a session whose agent takes prompts."""
