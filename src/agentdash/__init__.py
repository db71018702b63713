"""agentdash: start, follow, prompt and stop coding agents from one terminal."""

# msgspec imports it without a look at the result: a signal in that moment ends the process with SIGSEGV later.
import datetime  # noqa: F401

__version__ = "0.1.0"
