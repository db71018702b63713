"""A history of texts to walk through without losing the current draft.  Needs no screen."""

from collections.abc import Iterable


class History:
    """Earlier texts, newest first; position 0 is the draft."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = list(texts)
        self._at = 0
        self._draft = ""

    def learn(self, texts: Iterable[str]) -> None:
        """Replace the earlier texts, and go back to the draft."""
        self._texts = list(texts)
        self._at = 0

    def older(self, current: str) -> str | None:
        """The text before the current one; None at the oldest."""
        if self._at == 0:
            self._draft = current
        at = self._at + 1
        while at <= len(self._texts) and self._texts[at - 1] == current:
            at += 1  # an equal text would look like a dead key
        if at > len(self._texts):
            return None
        self._at = at
        return self._texts[at - 1]

    def newer(self) -> str | None:
        """The text after the current one, finally the draft; None if the draft is already current."""
        if self._at == 0:
            return None
        self._at -= 1
        return self._texts[self._at - 1] if self._at else self._draft

    def sent(self, text: str) -> None:
        """Add a sent text to the history, and start an empty draft."""
        self._texts = [text, *(other for other in self._texts if other != text)]
        self._at = 0
        self._draft = ""
