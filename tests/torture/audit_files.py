"""The audit of files: each can be read, each byte belongs to one turn, and no file is in a wrong place."""

import json

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.storage.files.line_reader import LineReader
from torture.report import Finding, file_of, name, output_of


def check_files(scene, sessions, report):
    """Every file can be read, every line of it counts, and nothing lies where nothing belongs."""
    for path in sorted((scene.home / "live").iterdir()):
        report.add("stray files", f"{path} ({path.stat().st_nlink} names)")
    present = {session.id for session, _, _ in sessions}
    for folder in sorted((scene.home / "sessions").iterdir()):
        _check_folder(folder, present, scene, report)
    for session, turns, _ in sessions:
        if not (scene.home / "sessions" / session.id).is_dir():
            report.add("unreadable", f"{name(session)} has no folder")
        for turn in turns:
            _check_turn_file(scene, session, turn, report)
    for path in (scene.home / "cli.log", scene.home / "dashboard.log"):
        if path.exists():
            report.add("front ends crashed", f"{path}: {path.read_text(errors='replace')[-2000:]}")


def _check_folder(folder, present, scene, report):
    tried = any(line["op"] in ("delete", "rm") and line.get("session") == folder.name for line in scene.journal)
    if folder.name not in present and not tried:
        # A front end that was killed between making the folder and recording the session leaves an empty one.
        turns = folder / "turns"  # made after the folder
        kind = "stray files" if turns.is_dir() and any(turns.iterdir()) else "empty folders"
        report.counts[kind] += 1
        if kind == "stray files":
            report.findings.append(Finding(kind, f"{folder} belongs to no session"))
    for path in (folder / "session.json", folder / "procs.json"):
        try:
            json.loads(path.read_bytes())
        except FileNotFoundError:
            pass  # it is written by a runner, and none may have come that far
        except ValueError as error:
            report.add("unreadable", f"{path}: {error}")
    report.counts["temporaries"] += len(list(folder.glob(".*")))
    log = folder / "runner.log"
    if not scene.full_disk and log.exists() and (text := log.read_text(errors="replace").strip()):
        report.counts["runner logs"] += 1
        if "Traceback" in text:
            report.add("runners crashed", f"{log}: {text[-3000:]}")


def _check_turn_file(scene, session, turn, report):
    """A fresh reading of the bytes gives the counts of the row."""
    path = file_of(scene, turn)
    parser = agent_named(session.agent).parser(turn.n, turn.transport)
    steps = lines = 0
    with LineReader(path, turn.begin_byte, end=scene.ends[session.id, turn.n]) as reader:
        for line in reader.all_lines():
            lines += bool(line.strip())
            steps = max([steps, *(step.index + 1 for step in parser.feed(line))])
    report.counts["lines"] += lines
    if parser.facts.lines != lines:
        report.add("unreadable", f"{path}: {lines} lines, {parser.facts.lines} accounted for")
    if (turn.steps, turn.unknown) != (steps, parser.facts.unknown):
        report.add(
            "unreadable",
            f"{name(session)} turn {turn.n} ({turn.status}): {turn.steps} steps ({turn.unknown} unknown) recorded,"
            f" {steps} ({parser.facts.unknown}) in the file",
        )


def check_bytes(scene, sessions, report):
    """Every byte that an agent could write is in its turn file, and no other."""
    wrote = {record["run"]: record["bytes"] for record in scene.book.records("wrote")}
    at_least = {record["run"]: record["bytes"] for record in scene.book.records("full")}
    for session, turns, _ in sessions:
        for turn in turns:
            size = len(output_of(scene, turn))
            if turn.run_id in wrote and size != wrote[turn.run_id]:
                report.add("bytes lost", f"{name(session)}: {wrote[turn.run_id]} written, {size} in the turn file")
            elif size < at_least.get(turn.run_id, 0):
                report.add("bytes lost", f"{name(session)}: {at_least[turn.run_id]} written, {size} in the turn file")
    report.counts["bytes compared"] = sum((at_least | wrote).values())


def check_streams(scene, sessions, report):
    """Every byte of a turn file belongs to exactly one turn: the turns of a file follow each other without a gap."""
    for session, turns, _ in sessions:
        folder = scene.home / "sessions" / session.id / "turns"
        sizes = {path: path.stat().st_size for path in folder.glob("turn_*.jsonl")}
        upto = dict.fromkeys(sizes, 0)
        for turn in turns:
            path, end = file_of(scene, turn), scene.ends[session.id, turn.n]
            if turn.begin_byte != upto.get(path, 0):
                what = f"turn {turn.n} begins at byte {turn.begin_byte}, the one before it ends at {upto.get(path, 0)}"
                report.add("bytes lost", f"{name(session)}: {path.name}: {what}")
            upto[path] = sizes.get(path, 0) if end is None else end
        for path, size in sizes.items():
            if upto[path] != size:
                report.add("bytes lost", f"{name(session)}: {path.name}: its turns end at {upto[path]} of {size} bytes")
        report.counts["bytes in turns"] += sum(upto.values())
