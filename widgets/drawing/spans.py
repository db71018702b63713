"""What a line of the screen is before it has colours: texts and the roles that name what they mean."""

Span = tuple[str, str]
"""Text and the role of its colour."""

Row = tuple[Span, ...]
