"""The statements from version 14 of the schema to 15: how many turns of a session lack a cost or tokens."""

_COUNT = (
    "BEGIN UPDATE sessions SET cost_missing = (SELECT count(DISTINCT turn) FROM use_sums"
    " WHERE session = {row}.session AND missing), tokens_missing = (SELECT count(DISTINCT turn) FROM use_sums"
    " WHERE session = {row}.session AND total_tokens IS NULL) WHERE id = {row}.session; END"
)

STATEMENTS = (
    "ALTER TABLE sessions ADD COLUMN cost_missing INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE sessions ADD COLUMN tokens_missing INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE tombstones ADD COLUMN cost_missing INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE tombstones ADD COLUMN tokens_missing INTEGER NOT NULL DEFAULT 0",
    (
        "CREATE TRIGGER use_lacks AFTER INSERT ON use_sums WHEN NEW.missing OR NEW.total_tokens IS NULL "
        + _COUNT.format(row="NEW")
    ),
    (
        "CREATE TRIGGER use_lacked AFTER DELETE ON use_sums WHEN OLD.missing OR OLD.total_tokens IS NULL "
        + _COUNT.format(row="OLD")
    ),
    (
        "UPDATE sessions SET cost_missing = (SELECT count(DISTINCT turn) FROM use_sums"
        " WHERE session = sessions.id AND missing), tokens_missing = (SELECT count(DISTINCT turn) FROM use_sums"
        " WHERE session = sessions.id AND total_tokens IS NULL)"
        " WHERE id IN (SELECT session FROM use_sums WHERE missing OR total_tokens IS NULL)"
    ),
    "DROP TRIGGER sessions_removed",
    """
    CREATE TRIGGER sessions_removed AFTER DELETE ON sessions BEGIN
        UPDATE counter SET seq = seq + 1;
        INSERT OR REPLACE INTO tombstones
            (session, seq, deleted_at, parent, lead, budget, total_tokens, cost_usd, cost_about_usd, agent, cwd, title,
                model, cost_missing, tokens_missing)
            VALUES (OLD.id, (SELECT seq FROM counter), CAST(strftime('%s', 'now') AS INTEGER) * 1000,
                OLD.parent, OLD.lead, OLD.budget, OLD.total_tokens, OLD.cost_usd, OLD.cost_about_usd,
                OLD.agent, OLD.cwd,
                iif(OLD.title = '', substr(OLD.task, 1, 200), OLD.title), OLD.model, OLD.cost_missing,
                OLD.tokens_missing);
    END
    """,
)
