"""A sum of costs to which costs can be added, and from which they can be subtracted without a remainder.  Pure."""

from .cost import Cost

_MILLION = 1_000_000


class CostCount:
    """A sum of costs; money is in millionths of a dollar, so that it is exactly 0 if all costs are subtracted."""

    def __init__(self) -> None:
        self._reported = self._computed = 0
        self._reports = self._computations = 0
        """The number of costs with such a part."""
        self._missing = 0

    def count(self, cost: Cost, by: int) -> None:
        """Add a cost (``by`` 1), or subtract it (-1)."""
        if cost.reported_usd is not None:
            self._reported += by * round(cost.reported_usd * _MILLION)
            self._reports += by
        if cost.computed_usd is not None:
            self._computed += by * round(cost.computed_usd * _MILLION)
            self._computations += by
        self._missing += by * cost.missing

    def add(self, other: "CostCount", by: int) -> None:
        """Add another sum (``by`` 1), or subtract it (-1)."""
        self._reported += by * other._reported
        self._computed += by * other._computed
        self._reports += by * other._reports
        self._computations += by * other._computations
        self._missing += by * other._missing

    @property
    def cost(self) -> Cost:
        """The sum."""
        return Cost(
            reported_usd=self._reported / _MILLION if self._reports else None,
            computed_usd=self._computed / _MILLION if self._computations else None,
            missing=self._missing,
        )
