"""Going through earlier prompts."""

from agentdash.widgets.inputs.history import Recall


def test_up_goes_back_and_down_returns_to_what_was_being_written():
    recall = Recall(["third", "second", "first"])
    assert recall.older("draft") == "third"
    assert recall.older("third") == "second"
    assert recall.newer() == "third"
    assert recall.newer() == "draft"
    assert recall.newer() is None


def test_it_stops_at_the_oldest():
    recall = Recall(["only"])
    assert recall.older("draft") == "only"
    assert recall.older("only") is None
    assert recall.newer() == "draft"


def test_what_stands_there_already_is_passed_over():
    assert Recall(["same", "other"]).older("same") == "other"


def test_what_was_sent_is_the_newest_and_stands_there_once():
    recall = Recall(["b", "a"])
    recall.sent("a")
    assert [recall.older(""), recall.older("a"), recall.older("b")] == ["a", "b", None]
