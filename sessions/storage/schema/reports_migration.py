"""The statements from version 13 of the schema to 14: the use that agents reported, kept by report."""

STATEMENTS = (
    "ALTER TABLE sessions ADD COLUMN cache_write_tokens INTEGER",
    "ALTER TABLE tombstones ADD COLUMN agent TEXT",
    "ALTER TABLE tombstones ADD COLUMN cwd TEXT",
    "ALTER TABLE tombstones ADD COLUMN title TEXT",
    "ALTER TABLE tombstones ADD COLUMN model TEXT",
    "DROP TRIGGER sessions_removed",
    """
    CREATE TRIGGER sessions_removed AFTER DELETE ON sessions BEGIN
        UPDATE counter SET seq = seq + 1;
        INSERT OR REPLACE INTO tombstones
            (session, seq, deleted_at, parent, lead, budget, total_tokens, cost_usd, cost_about_usd, agent, cwd, title,
                model)
            VALUES (OLD.id, (SELECT seq FROM counter), CAST(strftime('%s', 'now') AS INTEGER) * 1000,
                OLD.parent, OLD.lead, OLD.budget, OLD.total_tokens, OLD.cost_usd, OLD.cost_about_usd,
                OLD.agent, OLD.cwd,
                iif(OLD.title = '', substr(OLD.task, 1, 200), OLD.title), OLD.model);
    END
    """,
    """
    CREATE TABLE reports (
        session    TEXT NOT NULL,
        turn       INTEGER NOT NULL,
        source     TEXT NOT NULL,
        key        TEXT NOT NULL,
        kind       TEXT NOT NULL,
        at         INTEGER NOT NULL,
        model      TEXT,
        input_tokens INTEGER,
        cached_input_tokens INTEGER,
        cache_write_tokens INTEGER,
        cache_write_1h_tokens INTEGER,
        output_tokens INTEGER,
        reasoning_output_tokens INTEGER,
        total_tokens INTEGER,
        reported_usd REAL,
        computed_usd REAL,
        price      TEXT,
        price_as_of TEXT,
        counted    INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (session, turn, source, key)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE use_sums (
        session    TEXT NOT NULL,
        turn       INTEGER NOT NULL,
        quarter    INTEGER NOT NULL,
        model      TEXT NOT NULL,
        price_as_of TEXT NOT NULL,
        input_tokens INTEGER,
        cached_input_tokens INTEGER,
        cache_write_tokens INTEGER,
        output_tokens INTEGER,
        reasoning_output_tokens INTEGER,
        total_tokens INTEGER,
        reported_usd REAL,
        computed_usd REAL,
        missing    INTEGER NOT NULL,
        PRIMARY KEY (session, turn, quarter, model, price_as_of)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX use_sums_quarter ON use_sums (quarter)",
    """
    CREATE TABLE compactions (
        session    TEXT NOT NULL,
        turn       INTEGER NOT NULL,
        n          INTEGER NOT NULL,
        at         INTEGER NOT NULL,
        trigger    TEXT,
        step       INTEGER,
        tokens_before INTEGER,
        tokens_after INTEGER,
        PRIMARY KEY (session, turn, n)
    ) STRICT, WITHOUT ROWID
    """,
    """
    INSERT INTO reports (session, turn, source, key, kind, at, model, input_tokens, cached_input_tokens,
        output_tokens, reasoning_output_tokens, total_tokens, reported_usd, computed_usd, counted)
    SELECT turns.session, n, 'record', '', 'turn', coalesce(turns.ended_at, turns.started_at, turns.created_at), model,
        json_extract(usage, '$.input_tokens'), json_extract(usage, '$.cached_input_tokens'),
        json_extract(usage, '$.output_tokens'), json_extract(usage, '$.reasoning_output_tokens'),
        json_extract(usage, '$.total_tokens'), turns.cost_usd, turns.cost_about_usd, 1
    FROM turns JOIN sessions ON sessions.id = turns.session
    WHERE json_extract(usage, '$.input_tokens') IS NOT NULL OR json_extract(usage, '$.total_tokens') > 0
        OR turns.cost_usd IS NOT NULL
        OR turns.cost_about_usd IS NOT NULL OR (turns.ended_at IS NOT NULL AND turns.started_at IS NOT NULL
        AND NOT (turns.status = 'failed' AND turns.exit_code IS NULL AND turns.signal IS NULL AND turns.steps = 0)
        AND sessions.agent <> 'command')
    """,
    """
    INSERT INTO reports (session, turn, source, key, kind, at, total_tokens, reported_usd, computed_usd, counted)
    SELECT session, 0, 'record', '', 'turn', deleted_at, total_tokens, cost_usd, cost_about_usd, 1 FROM tombstones
    WHERE total_tokens IS NOT NULL OR cost_usd IS NOT NULL OR cost_about_usd IS NOT NULL
    """,
    """
    INSERT INTO use_sums SELECT session, turn, at / 900000, coalesce(model, ''), coalesce(price_as_of, ''),
        input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_output_tokens,
        total_tokens, reported_usd, computed_usd, reported_usd IS NULL AND computed_usd IS NULL
    FROM reports WHERE counted
    """,
    """
    CREATE TRIGGER turn_used AFTER UPDATE OF usage, cost_usd, cost_about_usd, ended_at, steps ON turns
        WHEN (json_extract(NEW.usage, '$.input_tokens') IS NOT NULL OR json_extract(NEW.usage, '$.total_tokens') > 0
            OR NEW.cost_usd IS NOT NULL
            OR NEW.cost_about_usd IS NOT NULL OR (NEW.ended_at IS NOT NULL AND NEW.started_at IS NOT NULL
                AND NOT (NEW.status = 'failed' AND NEW.exit_code IS NULL AND NEW.signal IS NULL AND NEW.steps = 0)
                AND (SELECT agent FROM sessions WHERE id = NEW.session) <> 'command'))
        AND (NEW.usage IS NOT OLD.usage OR NEW.cost_usd IS NOT OLD.cost_usd
            OR NEW.cost_about_usd IS NOT OLD.cost_about_usd
            OR NEW.ended_at IS NOT OLD.ended_at OR (NEW.ended_at IS NOT NULL AND NEW.steps <> OLD.steps)) BEGIN
        INSERT INTO reports (session, turn, source, key, kind, at, model, input_tokens, cached_input_tokens,
                cache_write_tokens, output_tokens, reasoning_output_tokens, total_tokens, reported_usd, computed_usd,
                counted)
            SELECT NEW.session, NEW.n, 'record', '', 'turn', coalesce(NEW.ended_at, NEW.started_at, NEW.created_at),
                model,
                json_extract(NEW.usage, '$.input_tokens'), json_extract(NEW.usage, '$.cached_input_tokens'),
                json_extract(NEW.usage, '$.cache_write_tokens'), json_extract(NEW.usage, '$.output_tokens'),
                json_extract(NEW.usage, '$.reasoning_output_tokens'), json_extract(NEW.usage, '$.total_tokens'),
                NEW.cost_usd, NEW.cost_about_usd,
                NOT EXISTS (SELECT 1 FROM reports WHERE session = NEW.session AND turn = NEW.n AND source <> 'record'
                    AND counted)
            FROM sessions WHERE id = NEW.session
            ON CONFLICT DO UPDATE SET at = excluded.at, model = excluded.model, input_tokens = excluded.input_tokens,
                cached_input_tokens = excluded.cached_input_tokens, cache_write_tokens = excluded.cache_write_tokens,
                output_tokens = excluded.output_tokens, reasoning_output_tokens = excluded.reasoning_output_tokens,
                total_tokens = excluded.total_tokens, reported_usd = excluded.reported_usd,
                computed_usd = excluded.computed_usd, counted = excluded.counted;
        DELETE FROM use_sums WHERE session = NEW.session AND turn = NEW.n AND EXISTS (SELECT 1 FROM reports
            WHERE session = NEW.session AND turn = NEW.n AND source = 'record' AND counted);
        INSERT INTO use_sums SELECT session, turn, at / 900000, coalesce(model, ''), coalesce(price_as_of, ''),
                input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_output_tokens,
                total_tokens, reported_usd, computed_usd, reported_usd IS NULL AND computed_usd IS NULL
            FROM reports WHERE session = NEW.session AND turn = NEW.n AND source = 'record' AND counted;
    END
    """,
    """
    CREATE TRIGGER turn_restored AFTER INSERT ON turns
        WHEN (json_extract(NEW.usage, '$.input_tokens') IS NOT NULL OR json_extract(NEW.usage, '$.total_tokens') > 0
            OR NEW.cost_usd IS NOT NULL
            OR NEW.cost_about_usd IS NOT NULL OR (NEW.ended_at IS NOT NULL AND NEW.started_at IS NOT NULL
                AND NOT (NEW.status = 'failed' AND NEW.exit_code IS NULL AND NEW.signal IS NULL AND NEW.steps = 0)
                AND (SELECT agent FROM sessions WHERE id = NEW.session) <> 'command')) BEGIN
        INSERT INTO reports (session, turn, source, key, kind, at, model, input_tokens, cached_input_tokens,
                cache_write_tokens, output_tokens, reasoning_output_tokens, total_tokens, reported_usd, computed_usd,
                counted)
            SELECT NEW.session, NEW.n, 'record', '', 'turn', coalesce(NEW.ended_at, NEW.started_at, NEW.created_at),
                model,
                json_extract(NEW.usage, '$.input_tokens'), json_extract(NEW.usage, '$.cached_input_tokens'),
                json_extract(NEW.usage, '$.cache_write_tokens'), json_extract(NEW.usage, '$.output_tokens'),
                json_extract(NEW.usage, '$.reasoning_output_tokens'), json_extract(NEW.usage, '$.total_tokens'),
                NEW.cost_usd, NEW.cost_about_usd,
                NOT EXISTS (SELECT 1 FROM reports WHERE session = NEW.session AND turn = NEW.n AND source <> 'record'
                    AND counted)
            FROM sessions WHERE id = NEW.session
            ON CONFLICT DO UPDATE SET at = excluded.at, model = excluded.model, input_tokens = excluded.input_tokens,
                cached_input_tokens = excluded.cached_input_tokens, cache_write_tokens = excluded.cache_write_tokens,
                output_tokens = excluded.output_tokens, reasoning_output_tokens = excluded.reasoning_output_tokens,
                total_tokens = excluded.total_tokens, reported_usd = excluded.reported_usd,
                computed_usd = excluded.computed_usd, counted = excluded.counted;
        DELETE FROM use_sums WHERE session = NEW.session AND turn = NEW.n AND EXISTS (SELECT 1 FROM reports
            WHERE session = NEW.session AND turn = NEW.n AND source = 'record' AND counted);
        INSERT INTO use_sums SELECT session, turn, at / 900000, coalesce(model, ''), coalesce(price_as_of, ''),
                input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_output_tokens,
                total_tokens, reported_usd, computed_usd, reported_usd IS NULL AND computed_usd IS NULL
            FROM reports WHERE session = NEW.session AND turn = NEW.n AND source = 'record' AND counted;
    END
    """,
)
