"""After the database was lost, use is added up from the new one, also if it has the inode of the old one."""

import os

from agentdash.sessions.rules.costs.usage_table import UsageQuery
from agentdash.sessions.service.lifecycle.recovery import rebuild as rebuilding
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store


def used(layout):
    store = Store(layout.database)
    reader = SessionReader(layout, store)
    total = reader.usage(UsageQuery(by="model")).total.usage.total_tokens
    reader.close_files()
    store.close()
    return total


def test_the_sums_of_days_are_those_of_the_new_database(tmp_path, monkeypatch):
    monkeypatch.setattr(rebuilding, "_usable", lambda path: True)
    layout = Layout(tmp_path)
    layout.create()
    store = Store(layout.database)
    with store.database.transaction() as db:
        db.execute(
            "INSERT INTO use_sums VALUES ('a', 1, 1980000, '', '', 1, NULL, NULL, 1, NULL, 500, NULL, NULL, 1)",
        )
    store.close()
    assert used(layout) == 500
    assert layout.day_sums.exists()
    number = layout.database.stat().st_ino
    os.truncate(layout.database, 0)
    rebuild(layout)
    assert layout.database.stat().st_ino == number
    assert used(layout) is None
