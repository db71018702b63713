"""The prices of models as a table: US dollars per million tokens; and the costs that were computed again."""

from collections.abc import Iterator, Sequence

from msgspec import structs

from agentdash.sessions.rules.costs.cost import cost_words
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.costs.repricing import RepricedCosts
from agentdash.sessions.settings.prices import PriceEntry
from agentdash.sessions.text.sanitize import cut, one_line
from agentdash.sessions.text.units import count, tokens
from agentdash.tui.render.style import Style

_HEADINGS = ("input", "cached", "write", "1h write", "output")
_CELLS = (7, 7, 7, 9, 7)
_MOST_NAME = 30
_MOST_MODELS = 8


def price_lines(entries: Sequence[PriceEntry], style: Style) -> Iterator[str]:
    """Yield a line for each price, and one below it for long prompts if they cost more.

    The date and the origin come last, and a narrow screen cuts them.
    """
    rows = [(entry.model, entry.price, entry) for entry in entries]
    room = min(_MOST_NAME, max((len(name) for name, *_ in rows), default=0))
    room = max([room, *(len(_above(price)) for _, price, _ in rows if _is_tiered(price))])
    yield style.paint(cut(f"{'USD per 1M':<{room}}{_cells(_HEADINGS)}  {'as of':<10}  origin", style.width), "dim")
    for model, price, entry in rows:
        name = cut(one_line(model), room)
        facts = f"{one_line(entry.as_of, 10):<10}  {entry.origin}"
        yield cut(f"{name:<{room}}{_cells(_figures(price))}  {facts}", style.width)
        if _is_tiered(price):
            yield style.paint(cut(f"{_above(price):<{room}}{_cells(_figures(_long(price)))}", style.width), "dim")


def _cells(texts: Sequence[str]) -> str:
    return "".join(f"{text:>{wide}}" for text, wide in zip(texts, _CELLS, strict=True))


def _is_tiered(price: Price) -> bool:
    return price.long_prompt_tokens is not None and (price.long_input_factor, price.long_output_factor) != (None, None)


def _above(price: Price) -> str:
    return f"  above {tokens(price.long_prompt_tokens)} in"


def _long(price: Price) -> Price:
    """Return the prices of a long prompt."""
    inward = {name: getattr(price, name) for name in ("input", "cached_input", "cache_write", "cache_write_1h")}
    factor = 1.0 if price.long_input_factor is None else price.long_input_factor
    outward = 1.0 if price.long_output_factor is None else price.long_output_factor
    changed = {name: figure * factor for name, figure in inward.items() if figure is not None}
    return structs.replace(price, **changed, output=None if price.output is None else price.output * outward)


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
    """The prices; ``?`` if one is not known, and the price that is taken in place of one that is not set."""
    cached = price.input if price.cached_input is None else price.cached_input
    write = price.input if price.cache_write is None else price.cache_write
    hour = write if price.cache_write_1h is None else price.cache_write_1h
    figures = (price.input, cached, write, hour, price.output)
    return tuple("?" if figure is None else f"{figure:,.6g}" for figure in figures)
