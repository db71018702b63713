"""A pattern of a form means what it means in ``re``, and a hostile one takes no longer than its length."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.rules.asks.pattern import matches

atoms = st.sampled_from(["a", "b", ".", r"\d", "[ab]", "[^a]", r"\.", "(a|b)", "(?:ab)", "^", "$", "(a(b|c)?)"])
counts = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,2}", "{0}", "{1,}", "+?"])
patterns = st.lists(st.tuples(atoms, counts).map("".join), max_size=5).map("".join)


@given(patterns, patterns, st.text("abc1.", max_size=8))
def test_a_pattern_means_what_it_means_in_re(one, other, text):
    for pattern in (one, f"{one}|{other}", f"^({one}|{other})+$", f"^({one}){{1,2}}$"):
        try:
            found = re.compile(pattern, re.ASCII).search(text) is not None
        except re.error:  # "^*" is an error there
            continue
        assert matches(pattern, text) in (found, None)


def test_the_patterns_of_forms():
    for pattern, text, found in [
        (r"^[A-Z]{3}-\d+$", "ABC-12", True), (r"^[A-Z]{3}-\d+$", "AB-12", False), (r"^(\d{3}-)+\d$", "123-456-7", True),
        (r"^\+?[0-9 ]{7,15}$", "+49 30 1234", True), ("b", "abc", True), ("^b$", "abc", False), ("^$", "", True),
        (r"^[\w.]+@[\w]+$", "a.b@c", True), (r"^(?:a|b)c{0,2}$", "bcc", True), (r"^(?:a|b)c{0,2}$", "bccc", False),
    ]:  # fmt: skip
        assert matches(pattern, text) is found, (pattern, text)


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", "^(a*)*b", "^" + "a?" * 30 + "a" * 30 + "$", "(.*)*x" * 9])
def test_a_hostile_pattern_does_not_hang(pattern):
    assert matches(pattern, "a" * 29 + "!") is False


def test_what_cannot_be_told_here_is_left_to_the_server():
    for pattern in [
        "(?=a)a", r"(a)\1", r"\bx", "(", ")", "*", "[", "a{9999}", "(a{99}){99}", "((((a?)?)?)?)" * 200,
        "a{3,1}", "(" * 5_000, r"\p{L}",
    ]:  # fmt: skip
        assert matches(pattern, "aa") is None, pattern
