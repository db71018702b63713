"""A line of the screen before it is coloured: texts, and roles that name their meaning."""

Span = tuple[str, str]
"""A text and its role."""

Row = tuple[Span, ...]
