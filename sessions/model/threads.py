"""Calls that run at the same time."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(call: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yield the result of a call for each item, in the order of the items.

    Args:
        call: an exception that it raises is raised here.
        threads: the most calls that run at the same time, at least 1.
    """
    from concurrent.futures import ThreadPoolExecutor  # loads logging too, and most commands do one thing

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(call, items)
