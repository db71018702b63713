"""The output of agents, made when a test asks for it."""


class FakeOutputs:
    """A file of 50 lines for each turn, and a stderr of two."""

    def __init__(self, manager):
        self._manager = manager

    def path(self, ref, turn=None, *, stderr=False):
        path = self._manager.home / f"{ref}.{turn}.{'err' if stderr else 'jsonl'}"
        if not path.exists():
            path.write_bytes(
                b"".join(b'{"type":"event","n":%d,"text":"[b]"}' % n + b" " * 64 + b"\n" for n in range(50))
            )
        return path

    def stderr_tail(self, ref, turn=None, most=1 << 20):
        return f"warning of turn {turn}\n\x1b[31mred\x1b[0m\n", 0
