"""What all tests share: isolation from the user's own state, waiting for conditions, and the real agent CLIs."""

import fcntl
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from isolation import isolate
from order import spread
from real_clis import CLAUDES, command_of, version_for
from repetition import SEED, TORTURE, repeated
from served import Served
from waiting import until
from watchdog import GRACE_SECONDS, watched

from agentdash.sessions.runner.processes import processes as procs
from scripted.registration import registered

HERE = Path(__file__).parent
TEMPORARY = Path(tempfile.gettempdir()).resolve()
LASTING = Path(f"/var/tmp/agentdash-tests-{os.getuid()}")
SCRATCH = LASTING if HERE.is_relative_to(TEMPORARY) else HERE.parent / ".scratch"
"""Not below the temp folder, also if the checkout is: codex makes no helpers for its sandbox there."""

STDERR = pytest.StashKey[int]()
"""The descriptor of stderr outside of tests."""

SLOW = {"bench", "e2e", "packaging", "torture"}
"""The folders whose tests only `make full` runs, but for those marked ``smoke``."""

MEMORY = Path("/dev/shm")
ROOM_BYTES = 4 << 30
"""Room that a run may need: the largest files are sparse."""

# How fast a machine makes examples says nothing of the program.
settings.register_profile(
    "agentdash",
    deadline=None,
    max_examples=repeated(30, 200),
    derandomize=not TORTURE,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("agentdash")

# SIGINT is ignored in the background of a script, SIGHUP under nohup; all programs that the tests start would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config):
    """Keep temporary files in memory, if there is room: most waits of the tests are for the disk."""
    roomy = os.access(MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(MEMORY).free >= ROOM_BYTES
    if roomy and not TORTURE and "TMPDIR" not in os.environ and config.option.basetemp is None:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # it is chosen again, from the environment
    # A run that leaves out tests by a marker finds their snapshots unused.
    config.option.warn_unused_snapshots |= bool(config.option.markexpr)
    # While a test runs, its output is captured.
    config.stash[STDERR] = os.dup(sys.__stderr__.fileno())


def pytest_itemcollected(item):
    """Mark the tests that only `make full` runs, and those that do more in `make torture`."""
    if item.path.parent.name in SLOW and item.get_closest_marker("smoke") is None:
        item.add_marker("slow")
    if is_hypothesis_test(getattr(item, "obj", None)):
        item.add_marker("torture")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Spread the tests that wait."""
    items[:] = spread(items)


def pytest_collection_finish():
    """Let the garbage collector run less often: at its default it takes two fifths of what dashboards in tests cost."""
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    """End this process if the test goes on long after its time limit."""
    marker = item.get_closest_marker("timeout")
    limit = marker.args[0] if marker else float(item.config.getini("timeout"))
    with watched(item.nodeid, limit + GRACE_SECONDS, item.config.stash[STDERR]):
        return (yield)


@pytest.fixture(autouse=True)
def isolated(monkeypatch, tmp_path):
    """No test can touch the user's sessions or settings, or be taken for part of a session."""
    isolate(monkeypatch, tmp_path)


@pytest.fixture
def scripted_agent(isolated):
    """The scripted agent is one of the agents, also in all processes that the test starts."""
    with registered():
        yield


@pytest.fixture(scope="session")
def once_a_run(tmp_path_factory):
    """Makes a folder that all workers of this run share: the first who needs it fills it, and the others wait."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def make(name, fill):
        folder, whole = shared / name, shared / f"{name}.whole"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not whole.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                whole.touch()
        return folder

    return make


@pytest.fixture(scope="session")
def wait_until():
    """Waits for a condition; what it gave, once it holds."""
    return until


@pytest.fixture
def leftovers():
    """The living processes that carry a session's tag: a scan of its own, not agentdash's."""

    def scan(session_id):
        tag = f"AGENTDASH_SESSION_ID={session_id}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if tag in (entry / "environ").read_bytes().split(b"\0"):
                        found.append((int(entry.name), (entry / "cmdline").read_bytes()))
                except OSError:  # it ended meanwhile, or it is not ours
                    continue
        return found

    return scan


class ProcessBook:
    """The test's own list of processes by pid and start time, to be gone at the end."""

    def __init__(self):
        self.known = set()

    def add(self, processes):
        """Remember what is there now."""
        self.known |= {found.key for process in processes if (found := procs.by_pid(process.pid))}

    def alive(self):
        """Those that still run."""
        assert self.known, "nothing was remembered: the test would prove nothing"
        return sorted(pid for pid, start in self.known if procs.alive(pid, start))


@pytest.fixture
def process_book():
    return ProcessBook()


def missing(what):
    """Skip on a machine without the tool; fail where the tools are promised (CI)."""
    message = f"{what} is not installed"
    if os.environ.get("AGENTDASH_REQUIRE_TOOLS") == "1":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def absent():
    """Skips, or fails where everything is promised, with the name of what is missing."""
    return missing


@pytest.fixture(scope="session")
def require_tool():
    """The path of a command, or no test."""

    def find(name):
        places = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
        return shutil.which(name, path=places) or missing(name)

    return find


class FakeModel:
    """A running model server with scripted answers (tests/fakemodel)."""

    def __init__(self, url, saved):
        self.url = url
        self._saved = saved

    def asked(self, text):
        """The requests with this text that offer the model tools: not those for a title."""
        as_json = json.dumps(text)[1:-1]
        sent = (path.read_text() for path in sorted(self._saved.iterdir()))
        return [request for saved in sent if as_json in saved and (request := json.loads(saved)).get("tools")]

    def was_shown(self, text):
        """Whether any agent sent this text to the model, whole."""
        as_json = json.dumps(text)[1:-1]
        return any(as_json in path.read_text() for path in self._saved.iterdir())


@pytest.fixture(scope="session")
def fake_model(tmp_path_factory):
    """The scripted model server, for the whole run."""
    saved = tmp_path_factory.mktemp("requests")
    server = subprocess.Popen(
        [sys.executable, str(HERE / "fakemodel" / "fakemodel.py"), "--port", "0", "--save-requests", str(saved)],
        stdout=subprocess.PIPE,
        text=True,
    )
    listening = json.loads(server.stdout.readline())
    yield FakeModel(listening["url"], saved)
    crashed = server.poll() is not None
    server.terminate()
    server.communicate(timeout=60)
    assert not crashed, "the model server crashed during the tests"


@pytest.fixture
def served(fake_model):
    """The model server's own record of the tokens that it reported in this test."""
    return Served(fake_model.url)


@pytest.fixture
def scratch_home(request, monkeypatch):
    """A folder for an agent's own settings and histories."""
    SCRATCH.mkdir(mode=0o700, exist_ok=True)
    home = SCRATCH / f"{os.getpid()}-{abs(hash(request.node.nodeid)):x}"
    home.mkdir()
    # Agents run commands in login shells: the user's own profile must not be part of the test.
    monkeypatch.setenv("HOME", str(home))
    yield home
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def use_agent(request, fake_model, scratch_home, monkeypatch):
    """Makes a real agent the one that is found, pointed at the scripted model; its kind is one of EVERY_CLI.

    It returns the name that agentdash has for it.  Its turns get a process each, unless a test chooses ``live``.
    """

    def use(cli):
        name, version = cli.partition("-")[0], version_for(cli, request.node.name)
        print(f"{name} {version}")
        command = command_of(name, version)
        prepare = {"codex": _use_codex, "claude": _use_claude}[name]
        prepare(command if command.exists() else missing(command.name), fake_model, scratch_home / name, monkeypatch)
        with Path(os.environ["AGENTDASH_CONFIG"]).open("a") as config:
            config.write(f"[agents.{name}]\nlive = false\n")
        return name

    return use


@pytest.fixture
def codex_env(use_agent, scratch_home):
    """The real codex, pointed at the scripted model; its home."""
    use_agent("codex")
    return scratch_home / "codex"


@pytest.fixture(params=CLAUDES)
def claude_env(request, use_agent, scratch_home):
    """The real claude, pointed at the scripted model; its home."""
    use_agent(request.param)
    return scratch_home / "claude"


def _use_codex(command, fake_model, home, monkeypatch):
    home.mkdir()
    home.joinpath("config.toml").write_text(
        'model = "gpt-5.5"\n'
        'model_provider = "fake"\n'
        "[tools.update_plan]\n"
        "enabled = true\n"
        "[model_providers.fake]\n"
        f'name = "Fake"\nbase_url = "{fake_model.url}/v1"\nenv_key = "FAKE_KEY"\nwire_api = "responses"\n'
        "request_max_retries = 2\nstream_max_retries = 2\n"
    )
    monkeypatch.setenv("CODEX_HOME", str(home))
    monkeypatch.setenv("FAKE_KEY", "dummy")
    _prepend_path(monkeypatch, command)


def _use_claude(command, fake_model, home, monkeypatch):
    home.mkdir()
    settings = {
        "CLAUDE_CONFIG_DIR": str(home),
        "ANTHROPIC_BASE_URL": fake_model.url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        # As root it refuses to work without permission checks, except in what calls itself a sandbox.
        "IS_SANDBOX": "1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    _prepend_path(monkeypatch, command)


def _prepend_path(monkeypatch, command):
    monkeypatch.setenv("PATH", f"{Path(command).parent}{os.pathsep}{os.environ['PATH']}")


def pytest_report_header():
    """Show the dice of the hostile tests, so that a run can be repeated."""
    return f"TORTURE_SEED={SEED}"


def pytest_terminal_summary(terminalreporter):
    """Print the torture's counts, passed or not; here because only this file is read where the tests are dealt out."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    for report in reports:
        for name, text in getattr(report, "user_properties", ()):
            if name == "torture" and getattr(report, "when", None) == "call":
                terminalreporter.section(f"torture: {report.nodeid.rpartition('::')[2]}")
                terminalreporter.line(text)
