"""The exit codes of the command line, besides 0 and those that the errors carry."""

FAILED = 1
TIMED_OUT = 124
"""The code of ``timeout``."""

INTERRUPTED, BROKEN_PIPE = 130, 141
"""The codes that a shell reports for SIGINT and SIGPIPE."""
