"""The real agent CLIs that the tests run: each version, and where ``make tools`` puts its command."""

from places import TESTS

TOOLS = TESTS / "tools"
BIN = TOOLS / "node_modules" / ".bin"
CLAUDES = {
    "claude-2.1.197": BIN / "claude",
    "claude-2.1.330": TOOLS / "claude-2.1.330" / "node_modules" / ".bin" / "claude",
}
EVERY_CLI = ("codex", *CLAUDES)
