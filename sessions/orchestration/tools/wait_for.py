"""The tool ``wait_for``."""

from ..arguments import WaitFor
from ..calls import Calls
from ..refusals import refused
from ..results import Waited
from ..waits import Wait


def wait_for(calls: Calls, arguments: WaitFor) -> Waited:
    """Wait until a worker ends or needs its lead, or the time is over."""
    with refused():
        family = calls.family()
        chosen = None
        if arguments.sessions is not None:
            chosen = list(dict.fromkeys(calls.find(ref, family).id for ref in arguments.sessions))
        return Wait(calls, chosen).until(arguments.until, arguments.seconds)
