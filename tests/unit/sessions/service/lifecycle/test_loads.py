"""What the processes of sessions cost."""

from agentdash.sessions.service.lifecycle.process_list import Loads, ProcessInfo


class Machine:
    """Processes by session, and a clock."""

    def __init__(self):
        self.now = 100.0
        self.running = {}

    def start(self, session, pid, cpu=0.0, rss=1000):
        one = ProcessInfo(pid=pid, parent=1, command="x", age_s=0.0, cpu_s=cpu, rss_bytes=rss)
        self.running.setdefault(session, {})[pid] = (self.now, one)

    def spend(self, session, pid, seconds):
        born, one = self.running[session][pid]
        self.running[session][pid] = (
            born,
            ProcessInfo(pid=pid, parent=1, command="x", age_s=0.0, cpu_s=one.cpu_s + seconds, rss_bytes=one.rss_bytes),
        )

    def processes(self, session):
        found = self.running.get(session, {}).values()
        return [
            ProcessInfo(pid=p.pid, parent=1, command="x", age_s=self.now - born, cpu_s=p.cpu_s, rss_bytes=p.rss_bytes)
            for born, p in found
        ]


def test_processor_time_is_what_was_spent_between_two_looks():
    machine = Machine()
    loads = Loads(machine.processes, lambda: machine.now)
    machine.start("a", 1, cpu=50.0)
    machine.start("a", 2)
    first = loads.look(["a", "gone"])
    assert set(first) == {"a"}
    assert (first["a"].processes, first["a"].rss_bytes, first["a"].cpu) == (2, 2000, None)
    machine.spend("a", 1, 4.0)
    machine.spend("a", 2, 1.0)
    machine.now += 5
    assert loads.look(["a"])["a"].cpu == 1.0


def test_a_number_that_is_used_again_is_another_process():
    machine = Machine()
    loads = Loads(machine.processes, lambda: machine.now)
    machine.start("a", 1, cpu=50.0)
    loads.look(["a"])
    machine.now += 5
    machine.running["a"].clear()
    machine.start("a", 1, cpu=2.5)
    assert loads.look(["a"])["a"].cpu == 0.5
