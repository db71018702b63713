"""What sessions used on the days of a month, as rows of the sums of each quarter of an hour."""

from datetime import date, timedelta

from agentdash.sessions.storage.local_days import beginning

TODAY = date(2026, 11, 18)
"""The day of the tests of usage: a Wednesday."""

PRICES = "2026-11-01"
"""The day of the prices of what was computed."""


def used(session, ago, model, tokens, *, missing=0, tokens_missing=0, **cost):
    """What a session used some days ago."""
    return {
        "session": session,
        "quarter": beginning(TODAY - timedelta(days=ago)),
        "model": model,
        "price_as_of": PRICES if "computed_usd" in cost else "",
        "input_tokens": tokens,
        "cached_input_tokens": tokens * 3 // 4,
        "cache_write_tokens": tokens // 10,
        "output_tokens": tokens // 10,
        "total_tokens": None if tokens_missing else tokens + tokens // 10,
        "missing": missing,
        **cost,
    }


def record(database, rows):
    """Write such rows into a database."""
    with database.transaction() as db:
        for number, row in enumerate(rows):
            whole = {"turn": 1000 + number, "price_as_of": "", "missing": 0} | row
            marks = ", ".join("?" * len(whole))
            db.execute(f"INSERT INTO use_sums ({', '.join(whole)}) VALUES ({marks})", tuple(whole.values()))


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
