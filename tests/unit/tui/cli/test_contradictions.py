"""Words of a command line that contradict each other are refused, before anything is done."""

import pytest
from verbs import verb


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("spawn", "--after", "a", "--after", "b", "go"), "A session waits for one other session."),
        (("start", "x", "--after", "a", "--after", "b"), "A session waits for one other session."),
        (("tail", "x", "--turn", "1", "--follow-turns"), "--turn and --follow-turns exclude each other"),
        (("tail", "x", "--once", "--follow-turns"), "--once cannot be combined with --turn or --follow-turns."),
        (("trajectory", "x", "--messages", "-n", "3"), "--lines and --messages cannot be combined."),
        (("trajectory", "x", "--messages", "--replay"), "--messages and --replay cannot be combined."),
        (("trajectory", "x", "--replay", "--numbers"), "--numbers needs --messages."),
        (("trajectory", "x", "--speed", "2"), "--speed needs --replay."),
        (("ls", "--table", "--all"), "--table and --all cannot be combined."),
        (("rewind", "x", "1", "--list"), "--list cannot be combined with a place, --undo or --dry-run."),
        (("set", "x"), "Give --model, --mode, or both."),
        (("usage", "--json", "plan"), "--json is an option of usage alone, not of plan; put options behind it."),
    ],
)
def test_words_that_contradict_each_other_are_refused(words, why):
    done = verb(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr


def test_the_setup_of_claude_names_the_settings_that_it_reads():
    assert (
        "unless /elsewhere/settings.json allows it"
        in verb("mcp", "--config", "claude", CLAUDE_CONFIG_DIR="/elsewhere").stdout
    )
    assert "unless ~/.claude/settings.json allows it" in verb("mcp", "--config", "claude", CLAUDE_CONFIG_DIR="").stdout
