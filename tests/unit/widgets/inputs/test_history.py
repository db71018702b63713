"""Going through earlier prompts."""

from agentdash.widgets.inputs.history import History


def test_up_goes_back_and_down_returns_to_what_was_being_written():
    history = History(["third", "second", "first"])
    assert history.older("draft") == "third"
    assert history.older("third") == "second"
    assert history.newer() == "third"
    assert history.newer() == "draft"
    assert history.newer() is None


def test_it_stops_at_the_oldest():
    history = History(["only"])
    assert history.older("draft") == "only"
    assert history.older("only") is None
    assert history.newer() == "draft"


def test_what_stands_there_already_is_passed_over():
    assert History(["same", "other"]).older("same") == "other"


def test_what_was_sent_is_the_newest_and_stands_there_once():
    history = History(["b", "a"])
    history.sent("a")
    assert [history.older(""), history.older("a"), history.older("b")] == ["a", "b", None]
