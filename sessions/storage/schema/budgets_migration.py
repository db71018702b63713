"""The statements from version 13 of the schema to 14: the budgets of days and weeks, and the windows of plans."""

STATEMENTS = (
    (
        "CREATE TABLE plan_windows (agent TEXT NOT NULL, account TEXT NOT NULL, window TEXT NOT NULL,"
        " used_percent REAL, resets_at INTEGER, seen_at INTEGER NOT NULL, status TEXT NOT NULL,"
        " PRIMARY KEY (agent, account, window)) STRICT, WITHOUT ROWID"
    ),
    (
        "CREATE TABLE budgets (source TEXT NOT NULL, folder TEXT NOT NULL, period TEXT NOT NULL, tokens INTEGER,"
        " cost_usd REAL, action TEXT NOT NULL, PRIMARY KEY (source, folder, period)) STRICT, WITHOUT ROWID"
    ),
    (
        "CREATE TABLE budget_raises (folder TEXT NOT NULL, period TEXT NOT NULL, begins TEXT NOT NULL,"
        " tokens INTEGER, cost_usd REAL, PRIMARY KEY (folder, period)) STRICT, WITHOUT ROWID"
    ),
    (
        "CREATE TABLE shares (session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,"
        " turn INTEGER NOT NULL, tokens INTEGER, cost_usd REAL, base_tokens INTEGER NOT NULL,"
        " base_cost_usd REAL NOT NULL, free INTEGER NOT NULL DEFAULT 0,"
        " PRIMARY KEY (session, turn)) STRICT, WITHOUT ROWID"
    ),
)
