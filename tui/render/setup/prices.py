"""The prices of models as a table: US dollars per million tokens; and the costs that were computed again."""

from collections.abc import Iterator, Sequence

from ....sessions.costs.cost import cost_words
from ....sessions.costs.prices import Price
from ....sessions.costs.repricing import RepricedCosts
from ....sessions.settings.price_entries import PriceEntry
from ....sessions.text.sanitize import cut, one_line
from ....sessions.text.units import count
from ..style import Style

_HEADINGS = ("input", "cached", "write", "output")
_MOST_NAME = 30
_MOST_MODELS = 8


def price_lines(entries: Sequence[PriceEntry], style: Style) -> Iterator[str]:
    """Yield a line for each price; the date and the origin come last, and a narrow screen cuts them."""
    room = min(_MOST_NAME, max((len(one.model) for one in entries), default=0))
    headings = "".join(f"{name:>9}" for name in _HEADINGS)
    yield style.paint(cut(f"{'USD per 1M':<{room}}{headings}  {'as of':<10}  origin", style.width), "dim")
    for one in entries:
        figures = "".join(f"{figure:>9}" for figure in _figures(one.price))
        name = cut(one_line(one.model), room)
        yield cut(f"{name:<{room}}{figures}  {one_line(one.as_of, 10):<10}  {one.origin}", style.width)


def repriced_lines(found: RepricedCosts, *, dry_run: bool) -> Iterator[str]:
    """Yield a line for the turns whose costs were computed again, and one for each kind of turn that was not."""
    if found.turns:
        which = f"{count(found.turns, 'turn')} of {count(found.sessions, 'session')}"
        would = " would be" if dry_run else ""
        yield f"{which}{would} repriced: {cost_words(found.before)} → {cost_words(found.after)}"
    else:
        yield "No cost would change." if dry_run else "No cost changed."
    if found.unpriced:
        more = " and others" if len(found.unpriced) > _MOST_MODELS else ""
        models = ", ".join(one_line(one) for one in found.unpriced[:_MOST_MODELS])
        yield f'Without a price: {models}{more}. Import prices, or set [prices."MODEL"] in the settings.'
    if found.uncertain:
        yield f"{count(found.uncertain, 'turn')} without a certain cost: model, tokens or longest prompt not known."
    if found.not_ended:
        yield f"{count(found.not_ended, 'turn')} skipped: not ended."


def _figures(price: Price) -> tuple[str, ...]:
    """The prices; ``?`` if one is not known, and the input's price if there is no other."""
    other = (price.cached_input, price.cache_write)
    return (_usd(price.input), *(_usd(price.input if one is None else one) for one in other), _usd(price.output))


def _usd(figure: float | None) -> str:
    return "?" if figure is None else f"{figure:,.6g}"
