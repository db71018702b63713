"""The keys that a demo asks a new user to try."""

MOVE, READ, REPLY, STOP, NEW, HELP = "j k", "Enter", "i", "x", "n", "?"

TOUR = (
    (MOVE, "move"),
    (READ, "read"),
    (REPLY, "reply to a finished one"),
    (STOP, "stop a busy one"),
    (NEW, "start one"),
    (HELP, "all keys"),
)
"""Keys that show within a minute what agentdash is for."""
