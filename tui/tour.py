"""The keys that a demo asks a new user to try."""

from agentdash.tui.keys.footer import Labels

MOVE, READ, REPLY = "table.down table.up", "table.open", "write_prompt"
STOP, NEW, HELP = "stop", "new_session", "help"
"""The actions of the keys, by their names."""

TOUR: Labels = (
    (MOVE, "move"),
    (READ, "read"),
    (REPLY, "reply to a finished one"),
    (STOP, "stop a busy one"),
    (NEW, "start one"),
    (HELP, "all keys"),
)
"""Keys that show within a minute what agentdash is for."""
