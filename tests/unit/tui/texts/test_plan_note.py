"""The words about a plan in the first line: they change with a report and when the window ends."""

from agentdash.sessions.model.plan_windows import PlanWindow
from agentdash.tui.state.plan_note import PlanNote
from agentdash.widgets.table.header import Tally
from agentdash.widgets.table.status_line import counts

NOW = 1_795_430_400_000


class Timers:
    def __init__(self):
        self.set = []
        self.stopped = 0

    def later(self, seconds):
        self.set.append(seconds)
        return self

    def stop(self):
        self.stopped += 1


def window(used, minutes=60, agent="codex"):
    return PlanWindow(agent=agent, window="5 h", used_percent=used, resets_at=NOW + minutes * 60_000, seen_at=NOW)


def test_one_timer_waits_for_the_end_of_the_window_and_then_the_words_go():
    timers, now = Timers(), [NOW]
    note = PlanNote(timers.later, lambda: now[0])
    note.show([window(20.0)])
    assert (note.words, timers.set) == ((), [])
    note.show([window(82.0), window(71.0, 90, "claude")])
    note.show([window(83.0), window(71.0, 90, "claude")])
    assert note.words[1] == "codex 5 h 83 % +1"
    assert timers.set == [3600.05]
    now[0] += 3_600_050
    note.show([window(83.0), window(71.0, 90, "claude")])
    assert note.words[1] == "claude 5 h 71 %"
    assert len(timers.set) == 2


def test_the_line_shows_the_longest_form_for_which_there_is_room():
    plan = ("codex 5 h 82 % until 14:20", "codex 5 h 82 %")
    wide, narrow, tiny = (counts(Tally(), "", width, plan=plan).plain for width in (80, 40, 20))
    assert wide.endswith(plan[0])
    assert narrow.endswith(plan[1])
    assert not narrow.endswith(plan[0])
    assert tiny.rstrip() == "nothing running"
    assert all(len(line) <= width for line, width in ((wide, 80), (narrow, 40), (tiny, 20)))
