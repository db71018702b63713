"""The visible part of a conversation, and the place at which its next turn goes on.  Pure."""
