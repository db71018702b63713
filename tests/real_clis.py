"""The real agent CLIs that the tests run: each version, and where ``make tools`` puts its command."""

from places import TESTS
from repetition import in_full

TOOLS = TESTS / "tools"
BIN = TOOLS / "node_modules" / ".bin"
CLAUDES = {
    "claude-2.1.197": BIN / "claude",
    "claude-2.1.330": TOOLS / "claude-2.1.330" / "node_modules" / ".bin" / "claude",
}
EVERY_CLI = ("codex", *CLAUDES)
*OLDER, NEWEST = CLAUDES
TRIED_CLAUDES = (NEWEST, *in_full(*OLDER))
"""What is tried of claude where a fact does not depend on what it prints: the newest; in full, each version."""

TRIED = ("codex", *TRIED_CLAUDES)
