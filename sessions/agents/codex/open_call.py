"""The model call that was under way at the end of codex's transcript (codex-cli 0.169.0 and 0.171.0)."""


class OpenCall:
    """Follows the calls of one turn by the order of codex's records.

    A call gets its record before its commands run, and the sum of the thread follows when they have ended; the next
    call then begins.  An interrupt writes the sum again before ``turn_aborted``, and behind the commands that it ended
    for the first time.  What a call that was under way has used is recorded nowhere.
    """

    def __init__(self) -> None:
        self.open = False
        """True if a call is under way."""
        self._sums = 0
        """The sums since the last record of a call."""

    def began(self) -> None:
        """Take the beginning of the turn: its first call follows."""
        self.open, self._sums = True, 1

    def recorded(self) -> None:
        """Take the record of a call."""
        self.open, self._sums = False, 0

    def summed(self) -> None:
        """Take a sum of the thread."""
        self.open = True
        self._sums += 1

    def aborted(self) -> None:
        """Take the end of a turn that was interrupted."""
        self.open = self._sums > 1

    def ended(self) -> None:
        """Take the end of a turn that no one interrupted."""
        self.open = False
