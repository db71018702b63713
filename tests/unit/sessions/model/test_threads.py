import threading

import pytest

from agentdash.sessions.model.threads import in_threads


def test_the_results_are_in_the_order_of_the_items_although_the_last_call_ends_first():
    last_is_done = threading.Event()

    def call(number):
        if number == 2:
            last_is_done.set()
        assert last_is_done.wait(60)
        return number * 10

    assert list(in_threads(call, [0, 1, 2], 3)) == [0, 10, 20]


def test_the_error_of_a_call_is_raised_after_the_results_before_it():
    results = in_threads(lambda number: 6 // number, [3, 0], 2)
    assert next(results) == 2
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_nothing_to_do_starts_nothing():
    assert list(in_threads(pytest.fail, [], 2)) == []
