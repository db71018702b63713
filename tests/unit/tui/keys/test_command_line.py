"""Commands by name: found, completed, refused with what is near."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.text.sanitize import cell_width
from agentdash.tui.keys.command_line import Command, CommandLine, UnusableLineError, longer, starting


def command(*names, takes="", complete=None, why_not=""):
    more = {"complete": complete} if complete else {}
    told = f"help of {names[0]}"
    return Command(names=names, help=told, run=lambda argument: argument, takes=takes, why_not=why_not, **more)


LINE = CommandLine([
    command("stop"),
    command("steps.copy", "copy"),
    command("theme", takes="[NAME]", complete=starting(["dark", "light"])),
    command("go", takes="NUMBER"),
    command("new_session", "new"),
    command("quit"),
    command("quit", "q"),
    command("retry", why_not="it is running."),
])  # fmt: skip


def refused(line):
    with pytest.raises(UnusableLineError) as raised:
        LINE.find(line)
    return str(raised.value)


def test_a_command_has_several_names():
    for line in ("new_session", "new", "new-session", " :new "):
        assert LINE.find(line)[0].names[0] == "new_session"


def test_what_stands_behind_the_name_is_for_the_command():
    assert LINE.find("go  3.12 ")[1] == "3.12"
    assert LINE.find("theme")[1] == ""
    found, argument = LINE.find("theme light")
    assert found.run(argument) == "light"


def test_of_two_with_the_same_name_the_later_one_counts():
    assert LINE.find("quit")[0].names == ("quit", "q")


def test_an_unknown_name_says_what_is_near():
    assert refused("stpo") == "Unknown command 'stpo'. Did you mean stop?"
    assert refused("xyzzy") == "Unknown command 'xyzzy'. Tab lists the commands."


def test_too_much_and_too_little_are_refused():
    assert refused("stop it") == "stop takes no argument (got 'it')."
    assert refused("go") == "go NUMBER: help of go."


def test_names_and_values_are_completed():
    assert LINE.completions("st") == ["stop"]
    assert LINE.completions("steps.") == ["steps.copy"]
    assert LINE.completions("theme ") == ["theme dark", "theme light"]
    assert LINE.completions("theme l") == ["theme light"]
    assert LINE.completions("stop ") == []
    assert LINE.completions("xyzzy ") == []


def test_verbs_of_the_program_come_first_and_names_inside_a_pane_last():
    line = CommandLine(
        [
            command("start_now"),
            command("steps.stderr", "stderr"),
            command("stop"),
            command("steps.down"),
            command("table.sort", "source"),
            command("sort"),
        ]
    )
    assert line.completions("st") == ["stop", "start_now", "stderr"]
    assert line.completions("so") == ["sort", "source"]
    assert line.completions("steps.d") == ["steps.down"]


def test_what_all_completions_agree_on_is_put_in():
    assert longer("t", ["theme dark", "theme light"]) == "theme "
    assert longer("theme ", ["theme dark", "theme light"]) == "theme "
    assert longer("x", []) == "x"


def test_a_hint_says_how_a_command_is_used():
    assert LINE.hint("go", 80) == "go NUMBER: help of go"
    assert LINE.hint("theme ", 80) == "theme [NAME]: help of theme  dark  light"
    assert LINE.hint("st", 80) == "stop"
    assert LINE.hint("steps.c", 80) == "steps.copy"
    assert LINE.hint("xyzzy", 80) == "unknown"


def test_a_hint_has_as_many_whole_names_as_fit():
    assert LINE.hint("", 15) == "stop  theme  …"
    assert LINE.hint("st", 16) == "stop"
    assert LINE.hint("theme ", 37) == "theme [NAME]: help of theme  dark  …"
    assert LINE.hint("theme ", 10) == "theme [NA…"


def test_what_cannot_be_done_now_says_why_and_is_not_proposed():
    assert refused("retry") == "it is running."
    assert LINE.hint("retry", 80) == LINE.hint("ret", 80) == "it is running."
    assert "retry" not in LINE.completions("")


@given(st.text(max_size=20))
def test_no_line_is_too_odd(line):
    assert cell_width(LINE.hint(line, 20)) <= 20
    try:
        LINE.find(line)
    except UnusableLineError as error:
        assert str(error)
