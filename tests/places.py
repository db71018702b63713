"""The folders that tests read from."""

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
"""The repository."""

BUILT_FOLDERS = ("sessions", "tui", "widgets", "docs", "src")
BUILT_FILES = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")
"""What a build reads."""

CAPTURES = TESTS / "captures"
"""What the agents printed, and in ``transcripts`` what they kept themselves."""

TRANSCRIPTS = TESTS / "transcripts"
"""Codex's transcripts of turns, some of them killed and resumed."""
