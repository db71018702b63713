"""agentdash: start, follow, prompt and stop coding agents from one terminal."""

__version__ = "0.1.0"
