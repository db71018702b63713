"""Bytes that are almost JSON are read, in time that grows with their length alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.agents.parsing.json_repair import DEEPEST, parsed, repaired, shallow


def test_what_is_odd_is_replaced_and_the_rest_stays():
    for printed, expected in [
        (rb'"a \ud83d b"', "a \ufffd b"),
        (rb'"a \uDE00 b"', "a \ufffd b"),
        (rb'"\ud83d\ude00"', "\U0001f600"),
        (rb'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600"),
        (rb'"\ude00\ud83d"', "\ufffd\ufffd"),
        (rb'"\ud83d\u0041"', "\ufffdA"),
        (rb'"\\ud83d"', r"\ud83d"),
        (rb'"\\\ud83d"', "\\\ufffd"),
        (rb'"\\\\ud83d \ud83d"', r"\\ud83d " + "\ufffd"),
        (rb'"\n\"\ud83d\""', '\n"\ufffd"'),
        (b'"a\xff b"', "a\ufffd b"),
        (b'"\xed\xa0\xbd"', "\ufffd\ufffd\ufffd"),
        (b'"\xf0\x9f\x98"', "\ufffd"),
        (b'"a\x00\x1b\tb"', "a\x00\x1b\tb"),
        (b"\xef\xbb\xbf[1]", [1]),
        (b"\0\0[1]\0\r", [1]),
        ('"\u2028\u2029\x85"'.encode(), "\u2028\u2029\x85"),
        (b"[NaN, Infinity, -Infinity]", ["NaN", "Infinity", "-Infinity"]),
        (b"[1e400, -1e400, 1.5]", ["1e400", "-1e400", 1.5]),
        (b"[9223372036854775807, 9223372036854775808]", [2**63 - 1, "9223372036854775808"]),
        (b"[-9223372036854775808, -9223372036854775809]", [-(2**63), "-9223372036854775809"]),
        (b"1" + b"0" * 10_000, "1" + "0" * 10_000),
    ]:
        assert parsed(printed) == expected, printed


@pytest.mark.parametrize("printed", [b"", b"\0", b"{", b'{"a":"b', b"plain text", b"\xff\xfe", b"{}{}", b'"a" b'])
def test_what_is_no_json_is_refused(printed):
    with pytest.raises(json.JSONDecodeError):
        parsed(printed)


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 99_999])
def test_what_is_nested_too_deeply_and_torn_is_refused(line):
    with pytest.raises(RecursionError):
        parsed(line)


def test_the_upper_levels_of_what_is_nested_too_deeply_are_read():
    deep = b"[" * 100_000 + b'"]"' + b"]" * 100_000
    event = parsed(b'{"type":"turn.completed","x":' + deep + b',"usage":{"input_tokens":1}}')
    assert (event["type"], event["usage"]) == ("turn.completed", {"input_tokens": 1})
    assert json.dumps(event["x"]).count("[") == DEEPEST - 1


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(value=VALUES, ascii_only=st.booleans())
def test_good_json_is_read_as_it_is(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert json.loads(repaired(text.encode())) == value
    assert parsed(text.encode()) == value
    assert shallow(text) == text


@given(st.text(st.characters(codec=None) | st.sampled_from('\\"ud83e\ud83d\ude00'), max_size=30))
def test_any_text_of_python_loses_only_its_lone_surrogates(text):
    """What ``json`` escapes, pairs and halves and backslashes in any order, comes back."""
    whole = json.loads(json.dumps(text))  # two halves side by side are one character
    expected = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in whole)
    found = parsed(json.dumps(text).encode())
    assert found == expected
    found.encode()


@given(st.binary(max_size=60))
def test_any_bytes_give_a_value_that_can_be_encoded_or_an_error(line):
    try:
        value = parsed(line)
    except (ValueError, RecursionError):
        return
    again = json.dumps(value, ensure_ascii=False).encode()
    assert json.dumps(parsed(again), ensure_ascii=False).encode() == again
