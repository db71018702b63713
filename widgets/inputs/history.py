"""Going back and forth in what was written before, without losing what is being written now.  No screen."""

from collections.abc import Iterable


class Recall:
    """Earlier texts, the newest first; position 0 is the text that is being written."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = list(texts)
        self._at = 0
        self._draft = ""

    def learn(self, texts: Iterable[str]) -> None:
        """Take other texts; the position stays at what is being written."""
        self._texts = list(texts)
        self._at = 0

    def older(self, current: str) -> str | None:
        """The text before the one that stands there; None at the oldest."""
        if self._at == 0:
            self._draft = current
        at = self._at + 1
        while at <= len(self._texts) and self._texts[at - 1] == current:
            at += 1  # what stands there already would look like a dead key
        if at > len(self._texts):
            return None
        self._at = at
        return self._texts[at - 1]

    def newer(self) -> str | None:
        """The text after it, and at last what was being written; None where one is back already."""
        if self._at == 0:
            return None
        self._at -= 1
        return self._texts[self._at - 1] if self._at else self._draft

    def sent(self, text: str) -> None:
        """Remember what was just sent, and begin anew."""
        self._texts = [text, *(other for other in self._texts if other != text)]
        self._at = 0
        self._draft = ""
