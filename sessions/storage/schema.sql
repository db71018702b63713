-- The facts.  What agents print is in files; nothing here is ever a copy of a stream.
-- Times are UTC milliseconds, durations are milliseconds of the monotonic clock, JSON columns hold objects or arrays.

CREATE TABLE counter (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO counter (id, seq) VALUES (1, 0);

-- What runners need of the configuration, as a front end read it last: they never read the file themselves.
-- `last_ask` is the number of the newest ask.
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id            TEXT PRIMARY KEY,
    seq           INTEGER NOT NULL DEFAULT 0,   -- position in the change feed
    agent         TEXT NOT NULL,
    title         TEXT NOT NULL,
    task          TEXT NOT NULL,
    cwd           TEXT NOT NULL,
    model         TEXT,
    options       TEXT NOT NULL DEFAULT '{}',   -- what the spawn asked for beyond the configuration
    command       TEXT NOT NULL DEFAULT '[]',   -- argv of a `command` session
    env           TEXT NOT NULL DEFAULT '{}',   -- values of the adapter's env_keys; never secrets
    source        TEXT NOT NULL DEFAULT 'user',
    parent        TEXT,
    agent_session TEXT,
    status        TEXT NOT NULL,
    reason        TEXT,
    turn          INTEGER NOT NULL,
    input_tokens  INTEGER,
    cached_input_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_output_tokens INTEGER,
    total_tokens  INTEGER,
    cost_usd      REAL,
    exit_code     INTEGER,
    signal        TEXT,
    steps         INTEGER NOT NULL DEFAULT 0,
    unknown       INTEGER NOT NULL DEFAULT 0,
    left          INTEGER NOT NULL DEFAULT 0,
    left_note     TEXT,
    stopping      TEXT,                         -- model.Stopping: how far a stop under way has come
    archived_at   INTEGER,
    last_message  TEXT,
    host          TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    started_at    INTEGER,
    ended_at      INTEGER,
    last_event_at INTEGER,
    stuck         TEXT,                         -- why the running turn seems to get nowhere, one line
    stuck_at      INTEGER,
    denied        INTEGER NOT NULL DEFAULT 0,   -- what the newest turn was not allowed to do
    pinned_at     INTEGER,
    urgency       INTEGER,                      -- rules.urgency: how urgently it needs the user, while it is not archived
    rank          INTEGER,                      -- rules.attention.rank: its place in the usual order; written with urgency
    urgency_seq   INTEGER,                      -- the `seq` for which urgency was computed; outdated if it is another
    asks          TEXT,                         -- what the last message of the newest turn asks the user, one line
    activity      TEXT,                         -- rules.activity.Activity: what the agent does now; NULL once it ended
    plan          TEXT,                         -- rules.activity.Plan: the progress of the newest turn's todo list
    queued        INTEGER NOT NULL DEFAULT 0,   -- prompts that wait for the end of the newest turn; kept by triggers
    held          TEXT,                         -- why they are not sent when it ends, one line; NULL: they are
    unconfirmed   INTEGER NOT NULL DEFAULT 0,   -- prompts of which it is not known whether the agent got them; by triggers
    asking        INTEGER NOT NULL DEFAULT 0,   -- open rows of `asks`; kept by triggers
    waits_since   INTEGER,                      -- when the oldest of them was asked; NULL: none is open; kept by triggers
    warm_since    INTEGER,                      -- since when the agent's process waits for prompts; NULL: it does not
    mode          TEXT,                         -- the mode that a live agent took since the start of its newest turn
    context_tokens INTEGER,                     -- tokens of the newest request to the model
    context_window INTEGER,                     -- the greatest number of tokens that the model takes
    cost_about_usd REAL,                        -- an estimate of what is not in cost_usd, over all turns
    taken_by      TEXT,                         -- who works in the own interface of the agent, as JSON; NULL: nobody
    after         TEXT,                         -- the session whose end starts this one; NULL: it waits for none
    blocked       INTEGER NOT NULL DEFAULT 0,   -- that end was not a good one: only the user's decision starts it
    followed      TEXT,                         -- the session whose end started it
    lead          TEXT,                         -- the outside lead that requested it: `claude:ID`, `codex:ID`
    depth         INTEGER NOT NULL DEFAULT 0,   -- number of sessions above it when it was requested
    lifecycle     TEXT NOT NULL DEFAULT 'detached',  -- membership.Lifecycle
    key           TEXT,                         -- its lead's name for the task; requested again, it is the same session
    call          TEXT,                         -- the tool call of the lead that requested it
    budget        TEXT,                         -- membership.Budget: of it and of all sessions below it
    reported_turn INTEGER NOT NULL DEFAULT 0,   -- the newest turn of which its lead has read the end
    born_to       TEXT,                         -- its parent before that was deleted; NULL: the present one
    share         TEXT,                         -- membership.Budget: reserved for it and all below when it was admitted
    woken_turn    INTEGER NOT NULL DEFAULT 0,   -- the newest turn whose end is in a prompt that wakes its lead, or wakes none
    escalates_at  INTEGER,                      -- when what it needs of its lead counts for the user; NULL: it needs nothing
    escalated     INTEGER NOT NULL DEFAULT 0,   -- 1: that time has come
    cache_write_tokens INTEGER,
    cost_missing  INTEGER NOT NULL DEFAULT 0,   -- turns of which a part has no cost; kept by triggers
    tokens_missing INTEGER NOT NULL DEFAULT 0,  -- turns that used an unknown number of tokens; kept by triggers
    due_at        INTEGER                       -- the first time for which one of its prompts waits; kept by triggers
) STRICT;
CREATE INDEX sessions_due ON sessions (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX sessions_escalates ON sessions (escalates_at) WHERE escalates_at IS NOT NULL AND NOT escalated;
CREATE UNIQUE INDEX sessions_key ON sessions (coalesce(parent, lead, ''), key) WHERE key IS NOT NULL;
CREATE INDEX sessions_linked ON sessions (parent) WHERE lifecycle <> 'detached';
CREATE INDEX sessions_lead ON sessions (lead) WHERE lead IS NOT NULL;
CREATE INDEX sessions_after ON sessions (after) WHERE after IS NOT NULL;
CREATE INDEX sessions_taken ON sessions (taken_by) WHERE taken_by IS NOT NULL;
CREATE INDEX sessions_seq ON sessions (seq);
CREATE INDEX sessions_created ON sessions (created_at);
CREATE INDEX sessions_status ON sessions (status);
CREATE INDEX sessions_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_left ON sessions (left) WHERE left > 0;
CREATE INDEX sessions_warm ON sessions (warm_since) WHERE warm_since IS NOT NULL;
CREATE INDEX sessions_outdated ON sessions (id) WHERE archived_at IS NULL AND urgency_seq IS NOT seq;
CREATE INDEX sessions_first ON sessions (pinned_at IS NULL, rank, created_at DESC, id)
    WHERE archived_at IS NULL AND urgency_seq IS seq;

CREATE TABLE turns (
    session       TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    n             INTEGER NOT NULL,
    status        TEXT NOT NULL,
    reason        TEXT,
    run_id        TEXT NOT NULL,
    launch        TEXT NOT NULL,                -- agents.base.Launch: the exact start
    launches      INTEGER NOT NULL DEFAULT 0,   -- how often a runner was sent for it
    launched_at   INTEGER,                      -- when the last one was
    created_at    INTEGER NOT NULL,
    started_at    INTEGER,
    ended_at      INTEGER,
    duration_ms   INTEGER,
    runner_pid    INTEGER,
    runner_start  INTEGER,
    agent_pid     INTEGER,
    agent_start   INTEGER,
    boot_id       TEXT,
    pid_ns        TEXT,
    agent_session TEXT,
    end           TEXT,
    rule          TEXT,                         -- which rule of status.py gave the final status
    error         TEXT,
    exit_code     INTEGER,
    signal        TEXT,
    stop_requested_at INTEGER,
    stop_by       TEXT,
    asked_by      TEXT,                         -- the session from inside which it was asked for
    usage         TEXT,
    thread_usage  TEXT,
    cost_usd      REAL,
    steps         INTEGER NOT NULL DEFAULT 0,
    unknown       INTEGER NOT NULL DEFAULT 0,
    rusage        TEXT,
    receipt       TEXT,
    left          TEXT NOT NULL DEFAULT '[]',
    unreadable    TEXT NOT NULL DEFAULT '{}',   -- fields of events that could not be read, and how often
    cost_about_usd REAL,                        -- an estimate where the agent named no cost
    denied_names  TEXT,                         -- the tools and programs that were refused; NULL: not recorded
    stream        INTEGER,                      -- the turn whose files hold this one's output; NULL: its own files
    begin_byte    INTEGER NOT NULL DEFAULT 0,   -- where its output begins in that file
    end_byte      INTEGER,                      -- the offset behind its output; NULL: the end of the file
    begin_error_byte INTEGER NOT NULL DEFAULT 0, -- where its stderr begins
    attempt       INTEGER NOT NULL DEFAULT 0,   -- how often its prompt was sent to a live agent
    running_cost_usd REAL,                      -- the running total that a live agent reported last
    PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX turns_open ON turns (status) WHERE status IN ('queued', 'starting', 'running', 'waiting', 'finishing');

CREATE TABLE prompts (
    id         INTEGER PRIMARY KEY,
    session    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn       INTEGER NOT NULL,
    text       TEXT NOT NULL,
    state      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    sent_at    INTEGER,
    seen_at    INTEGER,
    due_at     INTEGER                           -- a queued turn gets no place before; NULL: at once, or the time has come
) STRICT;
CREATE INDEX prompts_session ON prompts (session, turn);
CREATE INDEX prompts_due ON prompts (session) WHERE due_at IS NOT NULL;

CREATE TABLE queue (                             -- prompts for later turns; each becomes a row of `prompts` with its turn
    id         INTEGER PRIMARY KEY,
    session    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    key        TEXT NOT NULL,                    -- given with the request: the same request is recorded once
    place      REAL NOT NULL,                    -- the order in which they are sent
    text       TEXT NOT NULL,
    plan       TEXT NOT NULL,                    -- launch.TurnPlan: the settings at the time of the request
    state      TEXT NOT NULL,                    -- queued, taken, cancelled; of a prompt into a running turn also the states of `prompts`
    at_once    INTEGER NOT NULL DEFAULT 0,       -- it is sent although the queue is held
    turn       INTEGER,                          -- the turn that it became
    asked_by   TEXT,                             -- the session from inside which it was asked for
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    steers     INTEGER NOT NULL DEFAULT 0,       -- it may be written into a running turn
    attempt    INTEGER NOT NULL DEFAULT 0,       -- how often that was tried
    due_at     INTEGER,                          -- it is not sent before; NULL: no time, or it has come
    UNIQUE (session, key)
) STRICT;
CREATE INDEX queue_waiting ON queue (session, place) WHERE state = 'queued';
CREATE INDEX queue_under_way ON queue (session) WHERE state IN ('sending', 'sent');

CREATE TABLE asks (                              -- what a live agent asks, and the answers
    id          INTEGER PRIMARY KEY,
    session     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn        INTEGER NOT NULL,
    stream      INTEGER NOT NULL,                -- the process that asks, as in `turns`
    key         TEXT NOT NULL,                   -- names the ask among those of its process
    ask         TEXT NOT NULL,                   -- asks.model.Ask; a long body is cut
    state       TEXT NOT NULL,                   -- asks.recorded.AskState
    asked_at    INTEGER NOT NULL,
    due_at      INTEGER,
    answer      TEXT,                            -- asks.model.Answer; secret values only until sent_at
    answered_by TEXT,
    answered_at INTEGER,
    sent_at     INTEGER,                         -- when the answer was written to the agent
    settled_at  INTEGER,
    UNIQUE (session, stream, key)
) STRICT;
CREATE INDEX asks_open ON asks (session) WHERE state = 'open';

CREATE TABLE adjustments (                       -- changes of the model or the mode of a session
    id          INTEGER PRIMARY KEY,
    session     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn        INTEGER NOT NULL,                -- the newest turn at the time of the request
    what        TEXT NOT NULL,                   -- model, mode
    value       TEXT NOT NULL,
    counts_from TEXT NOT NULL,                   -- step, turn: when the agent uses it
    state       TEXT NOT NULL,                   -- adjustments.AdjustmentState
    reason      TEXT NOT NULL DEFAULT '',        -- the agent's words about a refusal
    asked_by    TEXT NOT NULL,
    asked_at    INTEGER NOT NULL,
    changed_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX adjustments_session ON adjustments (session);

CREATE TABLE marks (                             -- what was done to a conversation; the turns themselves never change
    id        INTEGER PRIMARY KEY,
    session   TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    kind      TEXT NOT NULL,                     -- conversation.marks.MarkKind: fork, rewind, undo, compact, takeover
    after     INTEGER NOT NULL,                  -- the newest turn at that time: the mark comes after it; 0: before all
    turn      INTEGER,                           -- the turn that it names; of a fork, a turn of the origin
    step      INTEGER,                           -- the last step of that turn that stays; NULL: all of it
    undoes    INTEGER,                           -- the mark that it takes back
    origin    TEXT,                              -- the session that was forked or is continued
    data      TEXT NOT NULL DEFAULT '{}',        -- what only this kind has, such as the summary of a compaction
    asked_by  TEXT NOT NULL,
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX marks_session ON marks (session);
CREATE INDEX marks_origin ON marks (origin) WHERE origin IS NOT NULL;

CREATE TABLE wakes (                             -- leads whose workers have ended: the ends are gathered until `due_at`
    lead   TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    due_at INTEGER NOT NULL,
    sent   INTEGER NOT NULL DEFAULT 0             -- 1: a process was started that waits for that time
) STRICT, WITHOUT ROWID;

CREATE TABLE wake_ends (                         -- the ends that a prompt of agentdash reports to a lead
    prompt  INTEGER NOT NULL REFERENCES queue (id) ON DELETE CASCADE,
    session TEXT NOT NULL,
    turn    INTEGER NOT NULL,
    PRIMARY KEY (prompt, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX wake_ends_session ON wake_ends (session);

CREATE TABLE budgets (                           -- the budgets of days and weeks, for runners: rules.period_budgets
    source    TEXT NOT NULL,                     -- the folder of the project that has it; empty: the user's settings
    folder    TEXT NOT NULL,                     -- a real path; empty: all folders
    period    TEXT NOT NULL,                     -- day, week
    tokens    INTEGER,
    cost_usd  REAL,
    action    TEXT NOT NULL,                     -- warn, stop
    PRIMARY KEY (source, folder, period)
) STRICT, WITHOUT ROWID;

CREATE TABLE budget_raises (                     -- what the user permits in the current period instead
    folder    TEXT NOT NULL,
    period    TEXT NOT NULL,
    begins    TEXT NOT NULL,                     -- the first day of that period
    tokens    INTEGER,
    cost_usd  REAL,
    PRIMARY KEY (folder, period)
) STRICT, WITHOUT ROWID;

CREATE TABLE shares (                            -- what a turn reserves of these budgets; it counts until the turn ends
    session   TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn      INTEGER NOT NULL,
    tokens    INTEGER,
    cost_usd  REAL,
    base_tokens INTEGER NOT NULL,                -- what the session had used before the turn
    base_cost_usd REAL NOT NULL,
    free      INTEGER NOT NULL DEFAULT 0,        -- 1: the user started it beyond the budgets
    PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE plan_windows (                      -- the newest report of each window of an agent's plan
    agent     TEXT NOT NULL,
    account   TEXT NOT NULL,                     -- the agent's name of the limit; empty if it has none
    window    TEXT NOT NULL,                     -- plan_windows.PlanWindow: 5 h, week, or the agent's own name
    used_percent REAL,                           -- NULL: not reported
    resets_at INTEGER,                           -- UTC ms; NULL: not reported
    seen_at   INTEGER NOT NULL,                  -- when the report came
    status    TEXT NOT NULL,                     -- ok, warning, limited
    PRIMARY KEY (agent, account, window)
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (                          -- what a front end asks of a runner
    id         INTEGER PRIMARY KEY,
    session    TEXT NOT NULL,
    turn       INTEGER NOT NULL,
    kind       TEXT NOT NULL,                    -- stop, kill
    asked_by   TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    done_at    INTEGER,
    receipt    TEXT
) STRICT;
CREATE INDEX requests_open ON requests (session) WHERE done_at IS NULL;

CREATE TABLE tombstones (
    session    TEXT PRIMARY KEY,
    seq        INTEGER NOT NULL,
    deleted_at INTEGER NOT NULL,
    parent     TEXT,                             -- its place in a family, which counts what it spent
    lead       TEXT,
    budget     TEXT,
    total_tokens INTEGER,
    cost_usd   REAL,
    cost_about_usd REAL,
    agent      TEXT,                             -- what its use is grouped by
    cwd        TEXT,
    title      TEXT,
    model      TEXT,
    cost_missing INTEGER NOT NULL DEFAULT 0,
    tokens_missing INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX tombstones_seq ON tombstones (seq);
CREATE INDEX tombstones_parent ON tombstones (parent) WHERE parent IS NOT NULL;
CREATE INDEX tombstones_lead ON tombstones (lead) WHERE lead IS NOT NULL;

CREATE TABLE ends (                              -- the end of each turn; it stays if the session is deleted
    seq     INTEGER PRIMARY KEY,                 -- position in the change feed
    session TEXT NOT NULL,
    turn    INTEGER NOT NULL,
    status  TEXT NOT NULL,
    at      INTEGER NOT NULL
) STRICT;

CREATE TABLE reports (                           -- what agents reported about their use; it stays if the session is deleted
    session    TEXT NOT NULL,
    turn       INTEGER NOT NULL,
    source     TEXT NOT NULL,                    -- costs.reports: message, models, running, result, call, thread, record
    key        TEXT NOT NULL,                    -- names the report among those of its source in the turn
    kind       TEXT NOT NULL,                    -- call, turn, thread
    at         INTEGER NOT NULL,
    model      TEXT,
    input_tokens INTEGER,                        -- with those read from and written to a cache
    cached_input_tokens INTEGER,
    cache_write_tokens INTEGER,
    cache_write_1h_tokens INTEGER,               -- of these, those that stay for an hour
    output_tokens INTEGER,                       -- with those of reasoning
    reasoning_output_tokens INTEGER,
    total_tokens INTEGER,
    reported_usd REAL,
    computed_usd REAL,
    price      TEXT,                             -- the costs.prices.Price with which it was computed
    price_as_of TEXT,                            -- the date of that price
    counted    INTEGER NOT NULL DEFAULT 0,       -- 1: it counts; of each turn those of one source do
    PRIMARY KEY (session, turn, source, key)
) STRICT, WITHOUT ROWID;

-- The reports that count, by quarters of an hour: a year has some hundred thousand reports, too many to add up for a
-- screen.  Derived: written with the reports of its turn, in the same transaction.
CREATE TABLE use_sums (
    session    TEXT NOT NULL,
    turn       INTEGER NOT NULL,
    quarter    INTEGER NOT NULL,                 -- the time of the reports, divided by 15 minutes
    model      TEXT NOT NULL,                    -- '' if it is not known
    price_as_of TEXT NOT NULL,                   -- '' if nothing was computed, or the date is not known
    input_tokens INTEGER,
    cached_input_tokens INTEGER,
    cache_write_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_output_tokens INTEGER,
    total_tokens INTEGER,
    reported_usd REAL,
    computed_usd REAL,
    missing    INTEGER NOT NULL,                 -- 1: some of it has no cost
    PRIMARY KEY (session, turn, quarter, model, price_as_of)
) STRICT, WITHOUT ROWID;
CREATE INDEX use_sums_quarter ON use_sums (quarter);

CREATE TABLE compactions (                       -- each compaction that an agent reported
    session    TEXT NOT NULL,
    turn       INTEGER NOT NULL,
    n          INTEGER NOT NULL,                 -- its number in the turn, from 1
    at         INTEGER NOT NULL,
    trigger    TEXT,                             -- manual, auto; NULL: the agent does not report it
    step       INTEGER,
    tokens_before INTEGER,
    tokens_after INTEGER,
    PRIMARY KEY (session, turn, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE seen (
    session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    at      INTEGER NOT NULL,
    steps   INTEGER,                             -- how many steps had been made by then; NULL: not known
    handled_at INTEGER                           -- when the user marked it read or dealt with its end; NULL: never
) STRICT;

-- The change feed is kept by the database itself, so that no writer can forget it.
CREATE TRIGGER sessions_added AFTER INSERT ON sessions BEGIN
    UPDATE counter SET seq = seq + 1;
    UPDATE sessions SET seq = (SELECT seq FROM counter) WHERE id = NEW.id;
END;
CREATE TRIGGER sessions_changed AFTER UPDATE ON sessions WHEN NEW.seq = OLD.seq BEGIN
    UPDATE counter SET seq = seq + 1;
    UPDATE sessions SET seq = (SELECT seq FROM counter) WHERE id = NEW.id;
END;
CREATE TRIGGER sessions_removed AFTER DELETE ON sessions BEGIN
    UPDATE counter SET seq = seq + 1;
    INSERT OR REPLACE INTO tombstones
        (session, seq, deleted_at, parent, lead, budget, total_tokens, cost_usd, cost_about_usd, agent, cwd, title,
            model, cost_missing, tokens_missing)
        VALUES (OLD.id, (SELECT seq FROM counter), CAST(strftime('%s', 'now') AS INTEGER) * 1000,
            OLD.parent, OLD.lead, OLD.budget, OLD.total_tokens, OLD.cost_usd, OLD.cost_about_usd,
                OLD.agent, OLD.cwd,
            iif(OLD.title = '', substr(OLD.task, 1, 200), OLD.title), OLD.model, OLD.cost_missing, OLD.tokens_missing);
END;
CREATE TRIGGER turn_ended AFTER UPDATE OF status ON turns
    WHEN NEW.status IN ('done', 'failed', 'stopped', 'lost')
    AND OLD.status NOT IN ('done', 'failed', 'stopped', 'lost') BEGIN
    UPDATE counter SET seq = seq + 1;
    INSERT INTO ends (seq, session, turn, status, at) VALUES ((SELECT seq FROM counter), NEW.session, NEW.n, NEW.status,
        coalesce(NEW.ended_at, CAST(strftime('%s', 'now') AS INTEGER) * 1000));
END;
-- A turn's own sum is a report too: of agents without finer ones the only one.
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
END;
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
END;
CREATE TRIGGER use_lacks AFTER INSERT ON use_sums WHEN NEW.missing OR NEW.total_tokens IS NULL BEGIN
    UPDATE sessions SET cost_missing = (SELECT count(DISTINCT turn) FROM use_sums
        WHERE session = NEW.session AND missing), tokens_missing = (SELECT count(DISTINCT turn) FROM use_sums
        WHERE session = NEW.session AND total_tokens IS NULL) WHERE id = NEW.session;
END;
CREATE TRIGGER use_lacked AFTER DELETE ON use_sums WHEN OLD.missing OR OLD.total_tokens IS NULL BEGIN
    UPDATE sessions SET cost_missing = (SELECT count(DISTINCT turn) FROM use_sums
        WHERE session = OLD.session AND missing), tokens_missing = (SELECT count(DISTINCT turn) FROM use_sums
        WHERE session = OLD.session AND total_tokens IS NULL) WHERE id = OLD.session;
END;
CREATE TRIGGER queue_added AFTER INSERT ON queue BEGIN
    UPDATE sessions SET queued = (SELECT COUNT(*) FROM queue WHERE session = NEW.session AND state = 'queued')
        WHERE id = NEW.session;
END;
CREATE TRIGGER queue_changed AFTER UPDATE ON queue BEGIN
    UPDATE sessions SET queued = (SELECT COUNT(*) FROM queue WHERE session = NEW.session AND state = 'queued')
        WHERE id = NEW.session;
END;
CREATE TRIGGER queue_timed AFTER INSERT ON queue WHEN NEW.due_at IS NOT NULL BEGIN
    UPDATE sessions SET due_at = min(coalesce(due_at, NEW.due_at), NEW.due_at) WHERE id = NEW.session;
END;
CREATE TRIGGER queue_retimed AFTER UPDATE ON queue WHEN OLD.due_at IS NOT NULL OR NEW.due_at IS NOT NULL BEGIN
    UPDATE sessions SET due_at = (SELECT MIN(due_at) FROM (
        SELECT due_at FROM queue WHERE session = NEW.session AND state = 'queued'
        UNION ALL SELECT due_at FROM prompts WHERE session = NEW.session AND state = 'queued'))
        WHERE id = NEW.session;
END;
CREATE TRIGGER prompt_timed AFTER INSERT ON prompts WHEN NEW.due_at IS NOT NULL BEGIN
    UPDATE sessions SET due_at = min(coalesce(due_at, NEW.due_at), NEW.due_at) WHERE id = NEW.session;
END;
CREATE TRIGGER prompt_retimed AFTER UPDATE ON prompts WHEN OLD.due_at IS NOT NULL BEGIN
    UPDATE sessions SET due_at = (SELECT MIN(due_at) FROM (
        SELECT due_at FROM queue WHERE session = NEW.session AND state = 'queued'
        UNION ALL SELECT due_at FROM prompts WHERE session = NEW.session AND state = 'queued'))
        WHERE id = NEW.session;
END;
CREATE TRIGGER ask_added AFTER INSERT ON asks BEGIN
    UPDATE sessions SET (asking, waits_since) = (SELECT COUNT(*), MIN(asked_at) FROM asks
        WHERE session = NEW.session AND state = 'open') WHERE id = NEW.session;
END;
CREATE TRIGGER ask_changed AFTER UPDATE ON asks BEGIN
    UPDATE sessions SET (asking, waits_since) = (SELECT COUNT(*), MIN(asked_at) FROM asks
        WHERE session = NEW.session AND state = 'open') WHERE id = NEW.session;
END;
CREATE TRIGGER prompt_confirmed AFTER UPDATE OF state ON prompts
    WHEN NEW.state <> OLD.state AND 'unconfirmed' IN (NEW.state, OLD.state) BEGIN
    UPDATE sessions SET unconfirmed =
        (SELECT COUNT(*) FROM prompts WHERE session = NEW.session AND state = 'unconfirmed')
        + (SELECT COUNT(*) FROM queue WHERE session = NEW.session AND state = 'unconfirmed') WHERE id = NEW.session;
END;
CREATE TRIGGER steered_confirmed AFTER UPDATE OF state ON queue
    WHEN NEW.state <> OLD.state AND 'unconfirmed' IN (NEW.state, OLD.state) BEGIN
    UPDATE sessions SET unconfirmed =
        (SELECT COUNT(*) FROM prompts WHERE session = NEW.session AND state = 'unconfirmed')
        + (SELECT COUNT(*) FROM queue WHERE session = NEW.session AND state = 'unconfirmed') WHERE id = NEW.session;
END;
CREATE TRIGGER seen_added AFTER INSERT ON seen BEGIN
    UPDATE sessions SET seq = seq WHERE id = NEW.session;
END;
CREATE TRIGGER seen_changed AFTER UPDATE ON seen BEGIN
    UPDATE sessions SET seq = seq WHERE id = NEW.session;
END;
CREATE TRIGGER lead_changed AFTER UPDATE OF status, archived_at ON sessions
    WHEN NEW.status <> OLD.status OR (NEW.archived_at IS NULL) <> (OLD.archived_at IS NULL) BEGIN
    UPDATE sessions SET seq = seq WHERE parent = NEW.id AND lifecycle <> 'detached';
END;
CREATE TRIGGER wake_sent AFTER UPDATE OF state ON queue
    WHEN NEW.asked_by = 'agentdash' AND NEW.state = 'taken' AND OLD.state = 'queued' BEGIN
    UPDATE sessions SET reported_turn = max(reported_turn,
        (SELECT wake_ends.turn FROM wake_ends WHERE prompt = NEW.id AND wake_ends.session = sessions.id))
        WHERE id IN (SELECT session FROM wake_ends WHERE prompt = NEW.id);
END;
CREATE TRIGGER end_reported AFTER UPDATE OF reported_turn ON sessions WHEN NEW.reported_turn > OLD.reported_turn BEGIN
    UPDATE queue SET state = 'cancelled' WHERE state = 'queued'
        AND id IN (SELECT prompt FROM wake_ends WHERE session = NEW.id)
        AND NOT EXISTS (SELECT 1 FROM wake_ends JOIN sessions AS worker ON worker.id = wake_ends.session
            WHERE wake_ends.prompt = queue.id AND worker.reported_turn < wake_ends.turn);
END;
