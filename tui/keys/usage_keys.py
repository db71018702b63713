"""The keys of the screen of usage: rows of the registry in ``actions``."""

USAGE = ("usage", "dollar_sign", "usage", "what sessions used: tokens and money, over time and by model")
"""Opens the screen: name, key, label and help."""

USAGE_KEYS = (
    ("day", "d", "day", "a column for each day", "step('day')", 3),
    ("week", "w", "week", "a column for each week", "step('week')", 3),
    ("month", "m", "month", "a column for each month", "step('month')", 3),
    ("group", "g", "group", "group by: model / agent / folder / lead / session", "group", 4),
    ("unit", "c", "cost/tokens", "toggle cost / tokens", "unit", 4),
    ("earlier", "h,left", "earlier", "earlier column", "column(-1)", 0),
    ("later", "l,right", "later", "later column", "column(1)", 0),
    ("down", "j,down", "down", "next row", "row(1)", 0),
    ("up", "k,up", "up", "previous row", "row(-1)", 0),
    ("first", "home", "first", "first row", "edge(False)", 0),
    ("last", "end", "last", "last row", "edge(True)", 0),
    ("page_down", "pagedown,space", "page down", "page down", "page(1)", 0),
    ("page_up", "pageup,b", "page up", "page up", "page(-1)", 0),
    ("open", "enter", "sessions", "show the sessions of the column or the row", "open", 5),
)
"""Name, keys, label, help, Textual's action, and weight in the footer."""
