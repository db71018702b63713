"""What a command may not drag in, and what only one module knows; `make lint` checks the direction of imports."""

import ast
import importlib
import inspect
import shutil
import subprocess
import sys
from functools import cache, lru_cache

import pytest
from places import ROOT

from agentdash.sessions.runner.hooks.hooks import KEEPER
from agentdash.sessions.runner.own_code import SERVES_TURNS
from agentdash.sessions.runner.runner_process import RUNNER, WAITER
from agentdash.tui.later import LATER

HEAVY = {
    "asyncio", "click", "dataclasses", "email", "hashlib", "http", "logging", "multiprocessing", "platformdirs",
    "pygments", "rich", "shutil", "socket", "ssl", "tempfile", "textual", "watchfiles",
}  # fmt: skip
"""What a runner does not need: there is one for each session, and hashlib alone loads 3.6 MB of OpenSSL."""

SESSION = "5e0f1f3c-6a3e-4d0e-9d47-1f0a7f2d9c11"


def modules(room):
    return sorted(path for path in (ROOT / room).rglob("*.py"))


def name_of(path):
    parts = ("agentdash", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@lru_cache(maxsize=1)
def nodes_of(path):
    return tuple(ast.walk(ast.parse(path.read_text())))


def imported_by(path):
    """The absolute names of everything a module imports, wherever in it."""
    package = name_of(path).split(".") if path.name == "__init__.py" else name_of(path).split(".")[:-1]
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{stem}.{alias.name}" for alias in node.names)


def loaded_by(code):
    """The modules that are loaded after running some code in a fresh interpreter."""
    program = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n"))


def textual_privates(path):
    """Yield the private names of Textual that a module imports, asks for or replaces."""
    yield from (name for name in imported_by(path) if name.startswith("textual.") and "._" in name)
    for node in nodes_of(path):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            own = ast.unparse(node.value) in ("self", "cls", "super()")
            if node.attr not in (our_names() if own else defined_by(path)):
                yield ast.unparse(node)
    module = importlib.import_module(name_of(path))
    for kind in vars(module).values():
        if inspect.isclass(kind) and kind.__module__ == module.__name__:
            theirs = [base for base in kind.__mro__ if base.__module__.startswith("textual.")]
            names = (name for name, value in vars(kind).items() if is_private(name) and is_of_a_class(value))
            yield from (f"{kind.__name__}.{name}" for name in names if any(name in vars(base) for base in theirs))


def is_private(name):
    return name.startswith("_") and not name.endswith("__")


def is_of_a_class(value):
    return inspect.isfunction(value) or isinstance(value, property)


@cache
def our_names():
    """The names that modules of the screen and of the widgets define."""
    return set().union(*map(defined_by, modules("tui") + modules("widgets")))


@cache
def defined_by(path):
    names = set()
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.attr if isinstance(node, ast.Attribute) else node.id)
    return names


def test_one_module_knows_the_private_names_of_textual():
    used = {path: sorted(textual_privates(path)) for path in modules("widgets") + modules("tui")}
    knowing = {name_of(path): names for path, names in used.items() if names and names != ["os._exit"]}  # documented
    assert {"textual._xterm_parser.XTermParser", "app._driver", "CheckedDriver._sigcont_application"} <= set(
        knowing.pop("agentdash.tui._textual_hacks")
    )
    assert knowing == {}


def test_sessions_need_no_screen():
    code = "\n".join(f"import {name_of(path)}" for path in modules("sessions"))
    roots = {name.split(".")[0] for name in loaded_by(code)}
    assert roots & {"textual", "rich"} == set()


def test_one_module_watches_and_one_knows_processes():
    everywhere = {path: path.read_text() for path in modules("sessions") + modules("widgets") + modules("tui")}
    naming = [path for path, text in everywhere.items() if "watchfiles" in text]
    watching = {name_of(path) for path in naming if any(n.startswith("watchfiles") for n in imported_by(path))}
    assert watching == {"agentdash.sessions.service.watch"}
    proc = {name_of(path) for path, text in everywhere.items() if '"/proc' in text}
    assert proc == {"agentdash.sessions.runner.processes.processes"}


@pytest.mark.parametrize(
    "argv",
    [["--help"], ["--version"], ["ls", "--json"], ["spawn", "--help"], ["status"], ["schema", "ls"]],
    ids=" ".join,
)
def test_the_command_line_does_not_load_the_screen(argv):
    code = (
        "import agentdash.tui.cli.main as cli, contextlib, io\n"
        f"with contextlib.redirect_stdout(io.StringIO()):\n    cli.run({argv!r})"
    )
    roots = {name.split(".")[0] for name in loaded_by(code)}
    assert roots & {"textual", "rich", "watchfiles"} == set()


def test_what_prints_does_not_load_the_screen():
    names = {name_of(path) for path in modules("tui/render") + modules("tui/cli")}
    names.remove("agentdash.tui.cli.reference")  # it writes the documents of the keys
    code = "\n".join(f"import {name}" for name in sorted(names))
    roots = {name.split(".")[0] for name in loaded_by(code)}
    assert roots & {"textual", "rich", "watchfiles"} == set()


def test_a_list_loads_the_module_of_its_verb_and_no_steps():
    code = (
        "import agentdash.tui.cli.main as cli, contextlib, io\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n    cli.run(['ls', '--json'])"
    )
    loaded = loaded_by(code)
    assert "agentdash.tui.cli.commands.reading.listing" in loaded
    assert not {name for name in loaded if name.startswith("agentdash.sessions.transcript")}
    assert "agentdash.tui.cli.commands.starting.start" not in loaded


def test_a_status_line_loads_neither_the_settings_nor_the_model(tmp_path, monkeypatch):
    """tmux runs it every few seconds."""
    monkeypatch.delenv("AGENTDASH_HOME", raising=False)  # the state folder is found by the settings file
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    from agentdash.sessions.storage.paths import Layout, usual_home
    from agentdash.sessions.storage.store import Store

    layout = Layout(usual_home())
    layout.create()
    store = Store(layout.database)
    assert store.sessions() == []
    store.close()
    loaded = loaded_by("import agentdash.tui.cli.main as cli\ncli.run(['status'])")
    assert "agentdash.sessions.storage.database" in loaded
    unwanted = ("settings.config", "agents.base", "model.session", "rules.launch")
    assert not loaded & {f"agentdash.sessions.{name}" for name in unwanted}


def test_a_runner_loads_little():
    loaded = loaded_by("import agentdash.sessions.runner.runner")
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_runner_of_a_live_agent_loads_little(agent):
    """It has read lines of its agent, and sent a prompt."""
    loaded = loaded_by(
        "import agentdash.sessions.runner.runner, msgspec\n"
        "from agentdash.sessions.agents.base import LaunchRequest\n"
        "from agentdash.sessions.agents.registry import agent_named\n"
        f"agent = agent_named({agent!r})\n"
        "settings = msgspec.convert({'live': True}, agent.settings_type)\n"
        f"request = LaunchRequest(prompt='go', cwd='/', session_id={SESSION!r}, settings=settings)\n"
        "command = agent.command(request)\n"
        "dialogue, parser = agent.dialogue(command.transport, command.opening), agent.parser(1, command.transport)\n"
        'for line in (b\'{"type": "unheard of"}\', b\'{"id": 1, "result": {}}\', b\'no JSON\'):\n'
        "    dialogue.feed(line)\n"
        "    parser.feed(line)\n"
        f"dialogue.opening(), dialogue.prompt({SESSION!r}, 1, 'go')"
    )
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()


FIRST_FRAME, FIRST_SCREEN = 90, 375
"""Most modules of ours that each of them loads: one costs about 0.4 ms of the start."""


def ours(loaded):
    return [name for name in loaded if name.startswith("agentdash")]


def test_the_first_frame_loads_little():
    loaded = loaded_by(
        "import agentdash.tui.terminal.early, agentdash.tui.first_frame\n"
        "import agentdash.sessions.service.projects.state_folder"
    )
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()
    assert len(ours(loaded)) <= FIRST_FRAME


def test_the_first_screen_loads_no_more_than_it_shows():
    loaded = loaded_by("import agentdash.tui.startup, agentdash.tui.app, agentdash.sessions.service.manager")
    assert len(ours(loaded)) <= FIRST_SCREEN


def test_the_first_screen_loads_neither_the_command_line_nor_what_comes_after_it():
    loaded = loaded_by("import agentdash.tui.startup, agentdash.tui.app, agentdash.sessions.service.manager")
    later = {f"agentdash.tui.{name}" for name in LATER}
    unwanted = {"click", "watchfiles", "anyio", "ctypes", "pygments.lexers", "agentdash.sessions.rules.digest.collect"}
    card = {name for name in loaded if name.startswith(("agentdash.widgets.asks", "agentdash.tui.texts.ask_texts"))}
    rules = {f"agentdash.sessions.rules.asks.{name}" for name in ("always", "dangerous", "rules")}
    assert loaded & (unwanted | later | card | rules) == set()


def test_what_is_loaded_later_can_be_loaded():
    loaded = loaded_by("from agentdash.tui import later; later.load()")
    assert {f"agentdash.tui.{name}" for name in LATER} <= loaded


def test_all_that_a_process_which_serves_turns_imports_later_is_in_the_folders_that_it_keeps():
    """An upgrade may have replaced the files by then."""
    kept = tuple(f"agentdash.{folder.replace('/', '.')}." for folder in SERVES_TURNS)
    names = {name_of(path): path for path in modules("sessions")}
    starts = [RUNNER, WAITER, *(name for name in names if name.startswith("agentdash.sessions.agents."))]
    at_first = loaded_by(f"import {RUNNER}, {WAITER}")
    seen, waiting = set(), list(starts)
    while waiting:
        name = waiting.pop()
        found = name if name in names else name.rpartition(".")[0]
        if found in names and found not in seen:
            seen.add(found)
            waiting += imported_by(names[found])
    assert {name for name in seen - at_first if not name.startswith(kept)} == set()


def test_a_module_that_was_kept_is_imported_as_it_was(tmp_path):
    """Its file has changed, or is gone with its folder, and nothing is written beside the new one."""
    package = tmp_path / "agentdash"
    shutil.copytree(ROOT / "sessions", package / "sessions", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "src/agentdash/__init__.py", package)
    program = (
        "from agentdash.sessions.runner import own_code\n"
        "import shutil, pathlib\n"
        "own_code.keep()\n"
        "root = own_code.ROOT / 'sessions'\n"
        "(root / 'text/units.py').write_text('raise SystemExit(1)')\n"
        "shutil.rmtree(root / 'transcript')\n"
        "from agentdash.sessions.text.units import tokens\n"
        "from agentdash.sessions.transcript.blocks import describe\n"
        "print(tokens(1_000), describe.__module__, list(root.glob('transcript*')))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{program}"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout.split() == ["1.0k", "agentdash.sessions.transcript.blocks", "[]"]


def test_runners_of_other_versions_find_what_they_start():
    """They know these names: a new version keeps them."""
    assert (RUNNER, WAITER, KEEPER) == (
        "agentdash.sessions.runner.runner",
        "agentdash.sessions.runner.queue.wake_process",
        "agentdash.sessions.runner.hooks.hook_process",
    )
    assert all(importlib.import_module(name).__name__ == name for name in (RUNNER, WAITER, KEEPER))
