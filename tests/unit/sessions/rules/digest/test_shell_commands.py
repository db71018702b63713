"""Shell lines as the programs that they start."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.rules.digest.shell import programs


def told(line):
    """The programs of a line with the operators between them."""
    return " ".join(part for program in programs(line) for part in ("_".join(program.words), program.then) if part)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pytest -q", "pytest_-q"),
        ("cd x && A=1 pytest || true; ls | wc & date", "cd_x && A=1_pytest || true ; ls | wc & date"),
        ("(cd x; pytest) || true", "cd_x ; pytest || true"),
        ("if pytest; then echo ok; fi", "pytest ; echo_ok ; fi"),
        ("pytest &&\n\n echo hi\n", "pytest && echo_hi"),
        ("pytest \\\n  -q", "pytest_-q"),
        ("ls # pytest\npytest", "ls ; pytest"),
        ("echo a#b", "echo_a#b"),
    ],
)
def test_a_line_is_cut_at_its_operators(line, expected):
    assert told(line) == expected


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("""pytest -k "a and b" 'c; d'""", ("pytest", "-k", "a and b", "c; d")),
        (r"""echo a\ b "c\"d\$e" 'f\g'""", ("echo", "a b", 'c"d$e', r"f\g")),
        ("pytest 2>&1 >out.txt 2>/dev/null -q", ("pytest", "-q")),
        ("echo $(pytest -q; ls) `pytest`", ("echo", "$(pytest -q; ls)", "`pytest`")),
        ("pytest 'never closed", ("pytest", "never", "closed")),
        ("sort <<< 'pytest; ls'", ("sort",)),
    ],
)
def test_what_is_quoted_is_one_word_and_where_output_goes_is_none(line, words):
    [program] = programs(line)
    assert program.words == words


def test_the_body_of_a_here_document_is_text():
    assert told("cat > test_x.py <<'EOF'\npytest; it's\nEOF\npytest -x") == "cat ; pytest_-x"
    assert told("cat <<A <<-'B C' && ls\npytest\nA\n\tpytest\n\tB C\nmake") == "cat && ls ; make"
    assert told("cat <<A\npytest") == "cat"


@given(st.text(alphabet="ab=#'\"\\$`()<>|&;-\n \t", max_size=60))
def test_no_line_is_too_odd(line):
    for program in programs(line):
        assert program.words
