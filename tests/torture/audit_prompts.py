"""The audit of prompts: each accepted prompt is there once, and no agent was given anything twice."""

from collections import Counter, defaultdict

from agentdash.sessions.manager import SessionManager
from agentdash.sessions.model import Status
from torture.nasty import TOKEN
from torture.report import name, output_of


def check_prompts(scene, sessions, report):
    """What a front end was told was accepted is there once, and no agent was given anything twice."""
    rows = {(s.id, p.turn): tokens_of(p.text) for s, _, prompts in sessions for p in prompts}
    _check_rows(sessions, report)
    with SessionManager(scene.home) as manager:
        waiting = {s.id: {t for p in manager.queue.prompts(s.id) for t in tokens_of(p.text)} for s, _, _ in sessions}
    _check_accepted(scene, waiting, rows, report)
    _check_copies(scene, rows, report)
    _check_delivered(scene, sessions, rows, report)


def tokens_of(text):
    """The tokens of a prompt, in order."""
    return TOKEN.findall(text)


def _check_rows(sessions, report):
    """Each turn has exactly one prompt."""
    for session, turns, prompts in sessions:
        if (found := sorted(prompt.turn for prompt in prompts)) != [turn.n for turn in turns]:
            report.add("prompts doubled", f"{name(session)}: prompts of turns {found}, but {len(turns)} turns")


def _check_accepted(scene, waiting, rows, report):
    """An acceptance is a promise: the row stands where the front end said, or the prompt waits, or has waited."""
    deleted = {line.get("session") for line in scene.journal if line["op"] in ("delete", "rm")}
    for line in scene.journal:
        if line["state"] != "ok" or line["op"] not in ("spawn", "inject", "retry"):
            continue
        report.counts["prompts accepted"] += 1
        session, turn = line["session"], line["turn"]
        if session not in waiting:
            if session not in deleted:
                report.add("prompts lost", f"session {session} is gone, and no front end asked for that: {line}")
            continue
        # A command line prints the session as it is once the turn has started: a later turn may be the newest by then.
        if line["op"] == "inject" and line.get("token"):
            later = {token for (other, _), tokens in rows.items() if other == session for token in tokens}
            if line["token"] not in later | waiting[session]:
                report.add("prompts lost", f"it is no prompt of {session}: {line}")
            continue
        first = (1 if line.get("token") else 2) if line["who"] == "harness" else turn
        if not any(_is_kept(line, rows, session, n) for n in range(min(first, turn), turn + 1)):
            report.add("prompts lost", f"it is not the prompt of turn {turn} of {session}: {line}")


def _is_kept(line, rows, session, turn):
    """Return whether a turn has the accepted prompt; that of a retry is the prompt of the turn before."""
    wanted = line.get("token") or next(iter(rows.get((session, turn - 1), [])), None)
    return wanted is None or wanted in rows.get((session, turn), [])


def _check_copies(scene, rows, report):
    """Two turns have the same words only if a front end asked for another try."""
    retries = Counter(line["session"] for line in scene.journal if (line["op"], line["state"]) == ("retry", "try"))
    places = defaultdict(list)
    for place, tokens in rows.items():
        for token in tokens:
            places[token].append(place)
    for token, found in places.items():
        homes = {session for session, _ in found}
        if len(homes) > 1 or len(found) > 1 + sum(retries[session] for session in homes):
            report.add("prompts doubled", f"{token} stands in {sorted(found)}")


def _check_delivered(scene, sessions, rows, report):
    """By the agents' own word: each run was given one prompt at most once, and its own."""
    given = defaultdict(list)
    for record in scene.book.records("prompt"):
        given[record["run"]].append(record["token"])
    report.counts["prompts delivered"] = sum(map(len, given.values()))
    for run, tokens in given.items():
        if len(tokens) > 1:
            report.add("prompts doubled", f"run {run} was given {tokens}")
    for session, turns, prompts in sessions:
        states = {prompt.turn: prompt.state for prompt in prompts}
        for turn in turns:
            wanted = rows.get((session.id, turn.n), [])
            told = given.get(turn.run_id, [])
            if session.agent == "demo":
                told = [token for token in wanted if token.encode() in read_prompt(scene, turn)]
                report.counts["prompts delivered"] += len(told)
            if told and told != wanted[-1:]:
                report.add("prompts lost", f"{name(session)} turn {turn.n} was given {told} instead of {wanted}")
            if turn.status is Status.DONE and not told and wanted:
                report.add("prompts lost", f"{name(session)} turn {turn.n} is done, but never got {wanted}")
            if told and states.get(turn.n) == "unsent":
                report.add("prompts doubled", f"{name(session)} turn {turn.n}: delivered, but called unsent")


def read_prompt(scene, turn):
    """The text on a started agent's standard input; an agent that printed has started, even if its runner was killed
    before it recorded the agent's identity."""
    turns = scene.home / "sessions" / turn.session / "turns"
    if turn.agent_pid is None and not output_of(scene, turn):
        return b""
    try:
        return (turns / f"turn_{turn.n}.prompt").read_bytes()
    except FileNotFoundError:
        return b""
