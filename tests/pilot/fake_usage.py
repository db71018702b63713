"""Usage in memory: what sessions used on which day, added up as the reader does."""

from datetime import date, timedelta

from agentdash.sessions.model.usage import Usage
from agentdash.sessions.rules.costs.cost import Cost
from agentdash.sessions.rules.costs.usage_table import UsageColumn, UsageRow, UsageTable, begin
from agentdash.sessions.storage.use.use_queries import OTHERS

TODAY = date(2026, 11, 18)
"""The day of the tests: a Wednesday."""


def used(session, ago, model, tokens, *, tokens_missing=0, **cost):
    """What a session used some days ago; its agent, folder and lead follow from the model."""
    agent = "codex" if model.startswith("gpt") else "claude"
    usage = Usage(
        input_tokens=tokens, cached_input_tokens=tokens * 3 // 4, cache_write_tokens=tokens // 10,
        output_tokens=tokens // 10, total_tokens=tokens + tokens // 10,
    ) if tokens is not None else Usage()  # fmt: skip
    day = TODAY - timedelta(days=ago)
    groups = {
        "model": model,
        "agent": agent,
        "folder": f"/home/ann/code/{agent}",
        "lead": "waiting1",
        "session": session,
    }
    return {"session": session, "day": day, "usage": usage, "cost": Cost(**cost), "lacks": tokens_missing, **groups}


MONTH = [
    used("done0001", 0, "opus-4-8", 400_000, reported_usd=2.1),
    used("waiting1", 0, "gpt-5.5", 220_000, computed_usd=0.9),
    used("failed01", 1, "haiku", 90_000, missing=1),
    used("stopped1", 3, "opus-4-8", 1_200_000, reported_usd=6.4),
    *(
        used("done0001", ago, model, 90_000 * (ago % 5 + 1), reported_usd=0.8 * (ago % 7 + 1))
        for ago in range(5, 29)
        for model in ("opus-4-8", "haiku")
        if ago % 6
    ),
    *(used("waiting1", ago, "gpt-5.5", 300_000, computed_usd=1.3) for ago in range(6, 20, 2)),
    used("old", 200, "opus-4-8", 1_000_000, reported_usd=12.0),
]


class FakeUsage:
    """Answers the queries of usage."""

    def __init__(self, facts=()):
        self.facts = list(facts)
        self.asked = []
        """The queries so far."""

    def usage(self, query):
        """Add up what the query asks for."""
        self.asked.append(query)
        facts = self._meant(query)
        starts = sorted({begin(one["day"], query.step) for one in facts}) if query.step else []
        rows = _rows(query, facts)
        shown = rows[: query.most]
        more = len(rows) - len(shown)
        kept = {row.group for row in shown}
        beyond = [one if _key(query, one) in kept else one | {query.by: OTHERS} for one in facts] if more else facts
        columns = [
            UsageColumn(
                start=start, rows=_rows(query, [one for one in beyond if begin(one["day"], query.step) == start])
            )
            for start in starts
        ]
        dates = ("2026-11-01",) if any(one["cost"].computed_usd for one in facts) else ()
        total = _row("", facts)
        return UsageTable(query=query, rows=shown, more=more, columns=tuple(columns), total=total, prices_as_of=dates)

    def sessions_of_usage(self, query, group=None, column=None):
        """Return the ids behind a group and a column."""
        facts = [
            one
            for one in self._meant(query)
            if (group is None or _key(query, one) == group)
            and (column is None or begin(one["day"], query.step) == column)
        ]
        return tuple(dict.fromkeys(one["session"] for one in facts))

    def _meant(self, query):
        return [one for one in self.facts if query.since is None or one["day"] >= query.since.date()]


def _key(query, one):
    return one[query.by] if query.by in one and query.by != "day" else begin(one["day"], query.by).isoformat()


def _rows(query, facts):
    keys = dict.fromkeys(_key(query, one) for one in facts)
    rows = [_row(key, [one for one in facts if _key(query, one) == key]) for key in keys]
    return tuple(sorted(rows, key=lambda row: (-(row.cost.known_usd or 0), row.label)))


def _row(key, facts):
    usage, cost = Usage(), Cost()
    for one in facts:
        usage, cost = usage.plus(one["usage"]), cost.plus(one["cost"])
    return UsageRow(
        group=key,
        label=key,
        sessions=len({one["session"] for one in facts}),
        usage=usage,
        cost=cost,
        tokens_missing=sum(one["lacks"] for one in facts),
    )
