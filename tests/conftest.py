import os, time, pathlib, pytest


@pytest.fixture(autouse=True)
def isolation(monkeypatch, tmp_path):
    monkeypatch.setenv("AGENTDASH_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("AGENTDASH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.delenv("AGENTDASH_SESSION_ID", raising=False)
    monkeypatch.delenv("AGENTDASH_RUN_ID", raising=False)


@pytest.fixture
def wait_until():
    def wait(predicate, timeout=20, what="the condition"):
        end = time.monotonic() + timeout
        while not (found := predicate()):
            assert time.monotonic() < end, f"waited {timeout} s for {what}"
            time.sleep(0.02)
        return found

    return wait


@pytest.fixture
def leftovers():
    def scan(session_id):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    env = (entry / "environ").read_bytes()
                    if f"AGENTDASH_SESSION_ID={session_id}".encode() in env.split(b"\0"):
                        found.append(int(entry.name))
                except OSError:
                    pass
        return found

    return scan
