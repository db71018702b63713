"""Check the agents: their CLIs, the tools with which they lead others, and the limits and prices of their use."""

import platform
import re
import select
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from typing import Any

from msgspec import structs

from agentdash.sessions.agents.base import Agent, LaunchRequest
from agentdash.sessions.agents.capabilities import Leading
from agentdash.sessions.agents.leading import server_argv
from agentdash.sessions.agents.registry import agent_named, agent_names
from agentdash.sessions.doctor.files import rows
from agentdash.sessions.doctor.model import Answer, Finding, Subject, ask, fail, find, ok, warn
from agentdash.sessions.model import typed
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import AgentdashError, ConfigError
from agentdash.sessions.model.usage import Usage
from agentdash.sessions.rules.costs.price_table import AS_OF
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.costs.pricing import call_of, price_of
from agentdash.sessions.service.build import described
from agentdash.sessions.service.lifecycle.starts.limit_checks import judged
from agentdash.sessions.settings.config import Config, load_config
from agentdash.sessions.settings.prices import (
    Imported,
    Origin,
    entry_of,
    imported,
    local_day,
    names_of,
    outdated,
    prices_path,
    with_imported,
)
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import listed, money

OLDEST_SQLITE = (3, 37, 0)
"""The first with STRICT tables."""


def versions(_: Subject) -> Iterator[Finding]:
    """Report agentdash, Python and SQLite."""
    yield ok("agentdash", described())
    yield ok("Python", f"{platform.python_version()} ({sys.executable})")
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        found = f"{sqlite3.sqlite_version} is too old"
        yield fail("SQLite", found, "use a Python that was built with SQLite 3.37 or newer")
    else:
        yield ok("SQLite", sqlite3.sqlite_version)


_VERSION = re.compile(r"\d{1,9}(?:\.\d{1,9})+")


def agent_clis(subject: Subject) -> Iterator[Finding]:
    """Yield one finding per agent that has a command of its own; all commands run at the same time."""
    chosen = _chosen_commands(subject)
    agents = [agent for agent in map(agent_named, agent_names()) if agent.binary]
    with ThreadPoolExecutor(max_workers=len(agents) or 1) as pool:
        yield from pool.map(partial(_agent_cli, subject, chosen), agents)


def judge(agent: Agent, path: str, answer: Answer) -> Finding:
    """Judge an agent by its answer to ``--version``."""
    if answer.exit_code is None:
        return fail(agent.name, f"{path} --version timed out", f"try: {path} --version")
    if answer.exit_code != 0:
        first_line = f": {answer.first_line}" if answer.first_line else ""
        return fail(agent.name, f"{path} --version exited with code {answer.exit_code}{first_line}", _install(agent))
    version, tested = _VERSION.search(answer.text), agent.tested_versions
    if version is None:
        known = f" agentdash is tested with {listed(tested)}." if tested else ""
        return warn(agent.name, f"{path} printed no version: {answer.first_line}", f"is it {agent.title}?{known}")
    return _compared(agent, version[0], f"{version[0]} ({path})")


def _compared(agent: Agent, version: str, found: str) -> Finding:
    """Judge a version by those with which the adapter was tested."""
    tested = agent.tested_versions
    if not tested:
        return ok(agent.name, found)
    if _numbers(version) < _numbers(tested[0]):
        return warn(agent.name, f"{found} is older than the tested {tested[0]}", _install(agent))
    if _numbers(version) > _numbers(tested[-1]):
        remedy = f"check the steps marked ??, or install {tested[-1]}"
        return warn(agent.name, f"{found} is newer than the tested {tested[-1]}", remedy)
    return ok(agent.name, f"{found}, tested with {listed(tested)}")


def _agent_cli(subject: Subject, chosen: dict[str, str], agent: Agent) -> Finding:
    name = chosen.get(agent.name) or agent.binary or agent.name
    path = find(name, subject.env)
    if path is None:
        return warn(agent.name, "not installed" if name == agent.binary else f"{name} not found", _install(agent))
    try:
        return judge(agent, path, ask([path, "--version"], subject.env))
    except OSError as error:
        return fail(agent.name, f"{path} cannot be started: {error.strerror}", _install(agent))


def _chosen_commands(subject: Subject) -> dict[str, str]:
    """Return the commands that the settings name; none if the settings are broken, which is a finding of its own."""
    try:
        config = load_config(subject.config_path)
    except ConfigError:
        return {}
    return {name: section.bin for name, section in config.agents.items() if section.bin}


def _install(agent: Agent) -> str:
    return agent.install_hint or f"install {agent.title}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


MCP = "MCP server"
MCP_PATIENCE = 1.0
"""Seconds that codex (0.169.0) waits for the tools of a server that its settings do not require."""
MCP_LONGEST = 10.0
"""Seconds after which the check gives up."""

_HELLO = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"agentdash doctor","version":"1"}}}\n{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
)
_TRY = "try: agentdash mcp < /dev/null"


def mcp_server(subject: Subject) -> Iterator[Finding]:
    """Report how long the server takes from its start to the list of its tools."""
    began = time.monotonic()
    tools, stderr = _tools(server_argv(), subject.env)
    took = time.monotonic() - began
    if tools is None:
        yield fail(MCP, f"it did not list its tools within {MCP_LONGEST:g} s{': ' if stderr else ''}{stderr}", _TRY)
    elif took > MCP_PATIENCE:
        remedy = "let the clients wait for it (required = true, alwaysLoad): agentdash mcp --config codex"
        yield warn(MCP, f"{len(tools)} tools after {took:.2f} s; codex waits {MCP_PATIENCE:g} s", remedy)
    else:
        yield ok(MCP, f"{len(tools)} tools after {took:.2f} s")


def mcp_clients(subject: Subject) -> Iterator[Finding]:
    """Report for each installed agent that can lead others whether its own settings have the server."""
    for name in agent_names():
        agent = agent_named(name)
        if agent.leading is not None and find(agent.binary or name, subject.env) is not None:
            yield _client(name, agent.leading, subject.env)


def _client(name: str, leading: Leading, env: Mapping[str, str]) -> Finding:
    what, setup = f"{MCP} in {name}", f"agentdash mcp --config {name}"
    try:
        server = leading.known_server(env)
    except (OSError, ValueError) as error:
        return warn(what, f"its settings cannot be read: {error}", f"correct them, or see {setup}")
    if server is None:
        return ok(what, f"not set up; spawn --lead needs no set-up, other starts do: {setup}")
    command = server.get("command")
    if not isinstance(command, str) or find(command, env) is None:
        return warn(what, f"its command {command} is not found", f"replace it: {setup}")
    return ok(what, f"set up ({command})")


def _tools(argv: Sequence[str], env: Mapping[str, str]) -> tuple[list[Any] | None, str]:
    """Return the tools that a server lists, None if it does not, and the last line of its stderr.

    Raises:
        OSError: it cannot be started.
    """
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(env), bufsize=0
    )
    try:
        return _asked(process), ""
    except (OSError, ValueError):  # it ended, or printed no answer
        process.kill()
        stderr = process.communicate()[1].decode("utf-8", "replace").strip()
        return None, stderr.splitlines()[-1] if stderr else ""
    finally:
        process.kill()
        process.communicate()


def _asked(process: "subprocess.Popen[bytes]") -> list[Any]:
    """Return the tools from the second answer.

    Raises:
        OSError, ValueError: there is none in time.
    """
    if process.stdin is None or process.stdout is None:
        raise ValueError
    process.stdin.write(_HELLO)
    until, output = time.monotonic() + MCP_LONGEST, b""
    while output.count(b"\n") < 2:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))
        piece = process.stdout.read(1 << 16) if ready else b""
        if not piece:
            raise ValueError
        output += piece
    answer = typed.decode(output.splitlines()[1])
    try:
        return list(answer["result"]["tools"])
    except (KeyError, TypeError, IndexError):
        raise ValueError from None


_LIMITS_REMEDY = (
    f"set a price in [prices] (built-in list: {AS_OF}), or limit wall_seconds, silence_seconds or output_mb"
)


def limits(subject: Subject) -> Iterator[Finding]:
    """Yield one finding for each limit that cannot act, or not reliably; none if the settings cannot be used."""
    try:
        config = load_config(subject.config_path)
    except AgentdashError:
        return  # broken settings are a finding of their own
    warnings = [(name, warning) for name in _judged(config, subject) for warning in _warnings(config, name, subject)]
    for name, warning in warnings:
        yield warn("limits", f"{name}: {warning.rstrip('.')}", _LIMITS_REMEDY)
    if not warnings:
        held = [config.limits, *(section.limits for section in config.agents.values())]
        configured = any(value is not None for one in held for value in structs.astuple(one))
        yield ok("limits", "all configured limits work" if configured else "none configured")


def _judged(config: Config, subject: Subject) -> Iterator[str]:
    """Yield the installed agents, and any other agent whose own section limits its usage."""
    for name in agent_names():
        settings = config.settings_for(name, {})
        binary = settings.bin or agent_named(name).binary
        installed = binary is not None and find(binary, subject.env) is not None
        if installed or settings.limits.tokens is not None or settings.limits.cost_usd is not None:
            yield name


def _warnings(config: Config, name: str, subject: Subject) -> tuple[str, ...]:
    agent, settings = agent_named(name), config.settings_for(name, {})
    held = settings.limits.over(config.limits)
    request = LaunchRequest(prompt="PROMPT", cwd="/", session_id="doctor", settings=settings, argv=("true",))
    try:
        command = agent.command(request)
    except AgentdashError:
        return ()
    prices = with_imported(config.prices, imported(subject.config_path))
    return judged(held, agent.measures(command, prices, subject.env))


STALE_DAYS = 60
PRICES_REMEDY = 'import newer prices (agentdash usage prices --import FILE), or set [prices."MODEL"]'

Dates = dict[tuple[Origin, str], list[str]]
"""Models by the origin and the date of their price."""

_FROM: dict[Origin, str] = {"built-in": "built-in ", "imported": "imported ", "settings": "settings' "}


def dates_in_force(models: Iterable[str], own: Mapping[str, Price], found: Imported) -> Dates:
    """Return the models by the origin and the date of their price; prices of the settings may have no date.

    Without models, the result has the date of the newest list alone.
    """
    entries = [entry for model in models if (entry := entry_of(model, own, found)) is not None]
    dates: Dates = {}
    for entry in entries:
        if _day(entry.as_of) is not None:
            dates.setdefault((entry.origin, entry.as_of), []).append(entry.model)
    newest = found.as_of if _day(found.as_of) and found.as_of > AS_OF else AS_OF
    return dates if entries else {("imported" if newest != AS_OF else "built-in", newest): []}


def stale(dates: Dates, today: date) -> Iterator[Finding]:
    """Yield a finding for each date that is older than :data:`STALE_DAYS`."""
    for (origin, as_of), models in sorted(dates.items(), key=lambda one: one[0][1]):
        days = (today - (_day(as_of) or today)).days
        if days > STALE_DAYS:
            named = f" of {names_of(models)}" if models else ""
            yield warn(
                "prices", f"the {_FROM[origin]}prices{named} are those of {as_of}, {days} days ago", PRICES_REMEDY
            )


def span(dates: Dates) -> str:
    """Return the first and the last date."""
    days = sorted({as_of for _, as_of in dates})
    return "the settings" if not days else days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


_MOST_DIFFERENCE = 0.02
_DAY_MS = 86_400_000
_MOST_REPORTS = 5_000
_MOST_FINDINGS = 5

_REPORTS = f"""SELECT model, input_tokens, cached_input_tokens, cache_write_tokens, cache_write_1h_tokens,
    output_tokens, reported_usd FROM reports WHERE counted = 1 AND reported_usd > 0 AND model IS NOT NULL AND at >= ?
    ORDER BY at DESC LIMIT {_MOST_REPORTS}"""  # noqa: S608
_USED = """SELECT model, min(reported_usd IS NOT NULL) AS reported FROM reports WHERE counted = 1
    AND model IS NOT NULL AND model NOT LIKE '<%' AND at >= ? GROUP BY model ORDER BY model LIMIT 100"""


def prices(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each fault of the prices; one if there is none."""
    try:
        own = load_config(subject.config_path).prices
        found = imported(subject.config_path)
    except AgentdashError as error:
        yield warn("prices", str(error), PRICES_REMEDY)
        return
    force, now, path = with_imported(own, found), now_ms(), subject.layout.database
    since, faults = (now - STALE_DAYS * _DAY_MS,), list[Finding]()
    # A database that cannot be read is a finding of its own.
    used = {row["model"]: bool(row["reported"]) for row in rows(path, _USED, since) or ()}
    dates = dates_in_force(used, own, found)
    if (why := outdated(found)) is not None:
        file = one_line(str(prices_path(subject.config_path)))
        remedy = f"import newer prices (agentdash usage prices --import FILE), or remove {file}"
        faults.append(warn("prices", why, remedy))
    faults += stale(dates, local_day(now / 1000))
    if missing := [model for model, reported in used.items() if not reported and price_of(model, force) is None]:
        faults.append(warn("prices", f"no price for {names_of(missing)}", PRICES_REMEDY))
    faults += list(_differences(rows(path, _REPORTS, since) or (), force))[:_MOST_FINDINGS]
    yield from faults
    if not faults:
        yield ok("prices", f"prices of {span(dates)}; no difference from the agents' own figures")


def _differences(reports: Sequence[sqlite3.Row], force: Mapping[str, Price]) -> Iterator[Finding]:
    """Compare the agents' figures with the same reports at these prices, for each model."""
    by_model: dict[str, list[tuple[float, float, float]]] = {}
    for row in reports:
        price = price_of(row["model"], force)
        computed = _range(price, row) if price is not None else None
        if computed is not None:
            by_model.setdefault(row["model"], []).append((row["reported_usd"], *computed))
    for model, figures in sorted(by_model.items()):
        reported, least, most = (sum(column) for column in zip(*figures, strict=True))
        nearest = min(max(reported, least), most)
        if abs(reported - nearest) > _MOST_DIFFERENCE * reported:
            words = f"{model}: the agent reported {money(reported)}, the prices make {money(nearest)} of the same use"
            yield warn("prices", words, PRICES_REMEDY)


def _range(price: Price, row: sqlite3.Row) -> tuple[float, float] | None:
    """Return the least and the greatest cost of a report; None if it is not certain.

    A report may not show for how long its cache writes stay, and whether one of its calls was long.
    """
    usage = Usage.of(
        row["input_tokens"], row["cached_input_tokens"], row["output_tokens"], written=row["cache_write_tokens"]
    )
    call = call_of(usage, row["cache_write_1h_tokens"])
    if call is None or price.is_long(call):
        return None
    if row["cache_write_1h_tokens"] is not None:
        return price.cost(call), price.cost(call)
    for_an_hour = structs.replace(call, cache_write_tokens=0, cache_write_1h_tokens=call.cache_write_tokens)
    costs = [price.cost(call), price.cost(for_an_hour)]
    return min(costs), max(costs)
