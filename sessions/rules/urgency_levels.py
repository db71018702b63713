"""The order of urgency as names only, so that a status line counts sessions without the rules."""

from enum import IntEnum


class Urgency(IntEnum):
    """The urgency of a session, the most urgent first.

    The numbers are stored (:mod:`..storage.urgency`): a change of the order needs a new version of the schema.
    """

    WAITING = 0
    STUCK = 1
    FAILED = 2
    DENIED = 3
    ASKS = 4
    AT_WORK = 5
    DONE = 6
    QUEUED = 7
    AT_REST = 8
