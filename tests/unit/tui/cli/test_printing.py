"""What a line of the command line's output becomes for a terminal, for a pipe, and where only ASCII is wanted."""

import io
import sys

import pytest

from agentdash.tui.cli.commands.common import print_lines

LINE = "✓ größer → 修复 …"


class Terminal(io.TextIOWrapper):
    """A terminal that keeps what is written to it."""

    def __init__(self, encoding="utf-8"):
        self.written = io.BytesIO()
        super().__init__(self.written, encoding=encoding, errors="replace")

    def isatty(self):
        """It is one."""
        return True

    @property
    def shown(self):
        """All that was written."""
        self.flush()
        return self.written.getvalue().decode(self.encoding)


@pytest.mark.parametrize(
    ("env", "painted", "printed"), [("", True, LINE), ("1", True, "+ größer > 修复 ~"), ("1", False, LINE)]
)
def test_a_pipe_gets_twins_in_our_lines_if_the_user_wants_ascii(monkeypatch, capsys, env, painted, printed):
    monkeypatch.setenv("AGENTDASH_ASCII", env)
    print_lines([LINE, "second"], painted=painted)
    assert capsys.readouterr().out == f"{printed}\nsecond\n"


@pytest.mark.parametrize("painted", [True, False])
@pytest.mark.parametrize(("encoding", "printed"), [("utf-8", LINE), ("latin-1", "+ größer > ?? ~")])
def test_a_terminal_gets_twins_if_its_encoding_has_no_unicode(monkeypatch, encoding, printed, painted):
    monkeypatch.delenv("AGENTDASH_ASCII", raising=False)
    terminal = Terminal(encoding)
    monkeypatch.setattr(sys, "stdout", terminal)
    print_lines([LINE], painted=painted)
    assert terminal.shown == f"{printed}\n"
