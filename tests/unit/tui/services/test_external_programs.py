"""The files that the user's programs open: no sandboxed agent can reach them."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from agentdash.tui.services.external_programs import ExternalPrograms


@pytest.fixture
def opened(monkeypatch):
    """The programs, and the files that they were given, with their content."""
    Path(os.environ["AGENTDASH_HOME"]).mkdir()
    monkeypatch.setenv("EDITOR", "true")
    found = []

    def run(self, argv, *_, **__):
        found.append((Path(argv[-1]), Path(argv[-1]).read_text()))
        return True

    monkeypatch.setattr(ExternalPrograms, "_run", run)
    monkeypatch.delenv("VISUAL", raising=False)
    programs = ExternalPrograms(SimpleNamespace(), SimpleNamespace(show_error=pytest.fail))
    return programs, found


@pytest.mark.parametrize("act", ["edited", "edit_text", "page_text"])
def test_what_they_open_is_below_the_state_folder_and_gone_afterwards(opened, act):
    programs, found = opened
    answer = getattr(programs, act)("words", "prompt.md")
    ((path, text),) = found
    assert path.is_relative_to(os.environ["AGENTDASH_HOME"])
    assert text.strip() == "words"
    assert not path.parent.exists()
    assert answer in ("words", None)
