"""The counts of a run, for people."""


def table(torture, report):
    """The counts, for people."""
    faults = ", ".join(f"{name} {count}" for name, count in sorted(torture.faults.items()))
    ends = ", ".join(f"{name} {count}" for name, count in sorted(report.statuses.items()))
    counts = report.counts
    asks = sorted((name, n) for name, n in counts.items() if name.startswith("ask "))
    rows = [
        ("seed", torture.seed),
        ("cycles", counts["cycles"]),
        ("kill -9", f"{sum(torture.faults.values())} ({faults})"),
        ("front ends", ", ".join(f"{name}s {count}" for name, count in sorted(torture.started.items()))),
        ("requests", f"{counts['asked: ok']} carried out, {counts['asked: refused']} refused in words"),
        ("processes started", counts["processes started"]),
        ("found and ended", counts["found and ended"]),
        ("leftovers", counts["leftovers"]),
        ("cleared and young", f"{counts['cleared and young']} (environment cleared after a killed runner's snapshot)"),
        ("prompts accepted", counts["prompts accepted"]),
        ("prompts delivered", counts["prompts delivered"]),
        ("prompts lost", counts["prompts lost"]),
        ("prompts doubled", counts["prompts doubled"]),
        ("live turns", f"{counts['live turns']} ({counts['turns begun by agents']} begun by the agents)"),
        ("asks", f"{counts['asks']} ({', '.join(f'{key[4:]} {n}' for key, n in asks)})"),
        ("answers accepted", counts["answers accepted"]),
        ("allowed commands run", counts["allowed commands run"]),
        ("agents closed for room", counts["agents closed for room"]),
        ("moments of kills", ", ".join(f"{name} {count}" for name, count in sorted(torture.moments.items()))),
        ("lines in turn files", counts["lines"]),
        ("sessions", ends or "none"),
        ("empty folders", f"{counts['empty folders']} (front end killed before it recorded the session)"),
        ("temporaries", f"{counts['temporaries']} (writer killed before the rename)"),
        ("findings", len(report.findings)),
    ]
    return _aligned(rows)


def disk_table(torture, report):
    """The counts of a full disk, for people."""
    counts = report.counts
    rows = [
        ("seed", torture.seed),
        ("disk", torture.disk.name),
        *torture.counts.items(),
        ("requests", f"{counts['asked: ok']} carried out, {counts['asked: refused'] + counts['asked: no room']} not"),
        ("bytes compared", counts["bytes compared"]),
        ("bytes lost", counts["bytes lost"]),
        ("prompts lost", counts["prompts lost"]),
        ("leftovers", counts["leftovers"]),
        ("cleared and young", counts["cleared and young"]),
        ("sessions", ", ".join(f"{name} {count}" for name, count in sorted(report.statuses.items()))),
        ("findings", len(report.findings)),
    ]
    return _aligned(rows)


def _aligned(rows):
    return "\n".join(f"{name:>27}  {value}" for name, value in rows)
