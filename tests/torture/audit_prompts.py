"""The audit of prompts: each accepted prompt is there once, and no agent was given anything twice."""

import contextlib
import sqlite3
from collections import Counter, defaultdict

from agentdash.sessions.model.session import Status
from agentdash.sessions.service.manager import SessionManager
from torture import kept
from torture.nasty import TOKEN
from torture.report import name, output_of
from torture.stream import began_by_itself

UNSURE = ("sent", "unconfirmed", "resent")
"""States of a prompt of which it is not known whether the agent got it."""


def check_prompts(scene, sessions, report):
    """What a front end was told was accepted is there once, and no agent was given anything twice."""
    rows = {(s.id, p.turn): tokens_of(p.text) for s, _, prompts in sessions for p in prompts}
    _check_rows(scene, sessions, report)
    steered = steered_prompts(scene)
    with SessionManager(scene.home) as manager:
        waiting = {s.id: {t for p in manager.queue.prompts(s.id) for t in tokens_of(p.text)} for s, _, _ in sessions}
    for session, _, token in steered:
        waiting.setdefault(session, set()).add(token)
    _check_accepted(scene, waiting, rows, report)
    _check_copies(scene, rows | {(session, f"queue {n}"): [token] for session, n, token in steered}, report)
    _check_delivered(scene, sessions, rows, report)
    for session, turns, prompts in sessions:
        if session.agent == "scripted" and any(turn.transport for turn in turns):
            _check_conversation(scene, session, turns, prompts, steered, report)


def steered_prompts(scene):
    """The prompts that were written into running turns: ``(session, number, token)``."""
    with contextlib.closing(sqlite3.connect(scene.home / "agentdash.db")) as db:
        rows = db.execute("SELECT session, id, text FROM queue WHERE state IN ('sending', 'sent', 'seen')").fetchall()
    return [(session, number, token) for session, number, text in rows for token in tokens_of(text)[-1:]]


def tokens_of(text):
    """The tokens of a prompt, in order."""
    return TOKEN.findall(text)


def _check_rows(scene, sessions, report):
    """Each turn has exactly one prompt, but for those that a live agent began by itself."""
    for session, turns, prompts in sessions:
        found = sorted(prompt.turn for prompt in prompts)
        missing = [turn for turn in turns if turn.n not in found and turn.transport]
        own = [turn.n for turn in missing if began_by_itself(output_of(scene, turn))]
        report.counts["turns begun by agents"] += len(own)
        if found != [turn.n for turn in turns if turn.n not in own]:
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
            if turn.transport and session.agent == "scripted":
                continue  # its standard input is no file: the conversation has what it was given
            if session.agent == "scripted":
                told = [token for token in wanted if token.encode() in read_prompt(scene, turn)]
                report.counts["prompts delivered"] += len(told)
            if told and told != wanted[-1:]:
                report.add("prompts lost", f"{name(session)} turn {turn.n} was given {told} instead of {wanted}")
            if turn.status is Status.DONE and not told and wanted:
                report.add("prompts lost", f"{name(session)} turn {turn.n} is done, but never got {wanted}")
            if told and states.get(turn.n) == "unsent":
                report.add("prompts doubled", f"{name(session)} turn {turn.n}: delivered, but called unsent")


def _check_conversation(scene, session, turns, prompts, steered, report):
    """By the agent's own record: a live agent was given each prompt as often as its states say."""
    paths = (scene.home / "scripted").glob(f"{session.id}*.json")  # a later conversation has its number behind the id
    said = [text for path in paths for text in kept.entries(path)]
    given = Counter(token for text in said for token in tokens_of(text)[-1:])
    report.counts["prompts delivered"] += sum(given.values())
    states = defaultdict(list)
    for prompt in prompts:
        for token in tokens_of(prompt.text)[-1:]:
            states[token].append(str(prompt.state))
    for owner, _, token in steered:
        if owner == session.id:
            states[token].append("seen")
    done = {turn.n for turn in turns if turn.status is Status.DONE}
    for token in given.keys() | states.keys():
        seen, maybe = states[token].count("seen"), sum(state in UNSURE for state in states[token])
        what = f"{name(session)}: {token} is {states[token]}, the conversation has it {given[token]} times"
        if given[token] > seen + maybe:
            report.add("prompts doubled", what)
        if given[token] < seen and not scene.full_disk:
            report.add("prompts lost", what)
    for prompt in prompts:
        wanted = tokens_of(prompt.text)[-1:]
        if prompt.turn in done and wanted and not given[wanted[0]] and not scene.full_disk:
            report.add("prompts lost", f"{name(session)} turn {prompt.turn} is done, but never got {wanted}")


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
