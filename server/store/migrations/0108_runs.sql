-- Runs as the ledger's rows add up to them. The shipper adds each row once, in the transaction that stores it.

-- state is `open`, then once one of the terminal states. A call that arrived after closed_at is late: it is counted in
-- late_calls and nowhere else. last_result is what the newest call would end the run as; actions are all calls, those
-- told by traces (external_calls) included. cost_micro_usd leaves out calls without a price.
CREATE TABLE runs (
  tenant_id text NOT NULL,
  root_task_id text COLLATE "C" NOT NULL,
  run_id text,
  resource_group_id text NOT NULL DEFAULT '',
  participants text[] NOT NULL DEFAULT '{}',
  state text NOT NULL DEFAULT 'open',
  state_source text,
  outcome text,
  started_at timestamptz NOT NULL,
  last_at timestamptz,
  last_id text,
  last_result text,
  active_at timestamptz NOT NULL,
  ended_at timestamptz,
  closed_at timestamptz,
  calls bigint NOT NULL DEFAULT 0,
  llm_calls bigint NOT NULL DEFAULT 0,
  tool_calls bigint NOT NULL DEFAULT 0,
  tool_errors bigint NOT NULL DEFAULT 0,
  errors bigint NOT NULL DEFAULT 0,
  late_calls bigint NOT NULL DEFAULT 0,
  asserted_calls bigint NOT NULL DEFAULT 0,
  intact_calls bigint NOT NULL DEFAULT 0,
  external_calls bigint NOT NULL DEFAULT 0,
  prompt_tokens bigint NOT NULL DEFAULT 0,
  completion_tokens bigint NOT NULL DEFAULT 0,
  cost_micro_usd bigint NOT NULL DEFAULT 0,
  unpriced_calls bigint NOT NULL DEFAULT 0,
  degraded boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, root_task_id)
);

-- Few orders are kept, because most runs are one call and pay for each order once. An idle run began before it was idle, so
-- the start finds it as well as its last call would, and does not change with each call. Retention looks for old runs,
-- which stand together.
CREATE INDEX runs_open ON runs (started_at) WHERE state = 'open';
CREATE INDEX runs_started ON runs USING brin (started_at) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX runs_group ON runs (resource_group_id, started_at);

-- The newest runs of a group that ended otherwise than completed, and of one reported outcome: few of many, so that looking
-- for them among all its runs would read most of those.
CREATE INDEX runs_ended_otherwise ON runs (resource_group_id, state, started_at) WHERE state NOT IN ('open', 'completed');
CREATE INDEX runs_outcome ON runs (resource_group_id, outcome, started_at) WHERE outcome IS NOT NULL;

-- The same by hour of the run's start, for figures over many runs. Kept by the triggers below and by nothing else: runs
-- that go take their part of their hour with them, so that it goes on to tell of those that are still open.
CREATE TABLE run_hourly (
  tenant_id text NOT NULL,
  resource_group_id text NOT NULL,
  hour timestamptz NOT NULL,
  runs bigint NOT NULL DEFAULT 0,
  open bigint NOT NULL DEFAULT 0,
  completed bigint NOT NULL DEFAULT 0,
  completed_degraded bigint NOT NULL DEFAULT 0,
  exhausted bigint NOT NULL DEFAULT 0,
  errored bigint NOT NULL DEFAULT 0,
  blocked_policy bigint NOT NULL DEFAULT 0,
  cancelled bigint NOT NULL DEFAULT 0,
  ended_by_client bigint NOT NULL DEFAULT 0,
  resolved bigint NOT NULL DEFAULT 0,
  escalated bigint NOT NULL DEFAULT 0,
  handed_off bigint NOT NULL DEFAULT 0,
  abandoned_by_user bigint NOT NULL DEFAULT 0,
  calls bigint NOT NULL DEFAULT 0,
  llm_calls bigint NOT NULL DEFAULT 0,
  tool_calls bigint NOT NULL DEFAULT 0,
  tool_errors bigint NOT NULL DEFAULT 0,
  errors bigint NOT NULL DEFAULT 0,
  late_calls bigint NOT NULL DEFAULT 0,
  asserted_calls bigint NOT NULL DEFAULT 0,
  intact_calls bigint NOT NULL DEFAULT 0,
  external_calls bigint NOT NULL DEFAULT 0,
  prompt_tokens bigint NOT NULL DEFAULT 0,
  completion_tokens bigint NOT NULL DEFAULT 0,
  cost_micro_usd bigint NOT NULL DEFAULT 0,
  unpriced_calls bigint NOT NULL DEFAULT 0,
  longest bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, resource_group_id, hour)
);

-- One text, three triggers: they differ in which rows a statement left behind, and a trigger cannot name what it was not
-- given. Hours are taken in the order of their key: two writers that add to the same ones cannot deadlock.
DO $make$
DECLARE
  add_up constant text := $add$
  INSERT INTO run_hourly AS h
  SELECT c.tenant_id, c.resource_group_id, date_trunc('hour', c.started_at, 'UTC'),
    sum(sign),
    coalesce(sum(sign) FILTER (WHERE c.state = 'open'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'completed'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'completed_degraded'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'exhausted'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'errored'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'blocked_policy'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state = 'cancelled'), 0),
    coalesce(sum(sign) FILTER (WHERE c.state_source = 'client'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'resolved'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'escalated'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'handed_off'), 0),
    coalesce(sum(sign) FILTER (WHERE c.outcome = 'abandoned_by_user'), 0),
    sum(sign * c.calls), sum(sign * c.llm_calls), sum(sign * c.tool_calls), sum(sign * c.tool_errors),
    sum(sign * c.errors), sum(sign * c.late_calls), sum(sign * c.asserted_calls), sum(sign * c.intact_calls),
    sum(sign * c.external_calls), sum(sign * c.prompt_tokens), sum(sign * c.completion_tokens),
    sum(sign * c.cost_micro_usd), sum(sign * c.unpriced_calls), max(c.calls)
  FROM %s AS c
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (tenant_id, resource_group_id, hour) DO UPDATE SET
    runs = h.runs + excluded.runs, open = h.open + excluded.open, completed = h.completed + excluded.completed,
    completed_degraded = h.completed_degraded + excluded.completed_degraded, exhausted = h.exhausted + excluded.exhausted,
    errored = h.errored + excluded.errored, blocked_policy = h.blocked_policy + excluded.blocked_policy,
    cancelled = h.cancelled + excluded.cancelled, ended_by_client = h.ended_by_client + excluded.ended_by_client,
    resolved = h.resolved + excluded.resolved, escalated = h.escalated + excluded.escalated,
    handed_off = h.handed_off + excluded.handed_off, abandoned_by_user = h.abandoned_by_user + excluded.abandoned_by_user,
    calls = h.calls + excluded.calls, llm_calls = h.llm_calls + excluded.llm_calls, tool_calls = h.tool_calls + excluded.tool_calls,
    tool_errors = h.tool_errors + excluded.tool_errors, errors = h.errors + excluded.errors, late_calls = h.late_calls + excluded.late_calls,
    asserted_calls = h.asserted_calls + excluded.asserted_calls, intact_calls = h.intact_calls + excluded.intact_calls,
    external_calls = h.external_calls + excluded.external_calls, prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = h.completion_tokens + excluded.completion_tokens, cost_micro_usd = h.cost_micro_usd + excluded.cost_micro_usd,
    unpriced_calls = h.unpriced_calls + excluded.unpriced_calls, longest = greatest(h.longest, excluded.longest);
$add$;
BEGIN
  EXECUTE 'CREATE FUNCTION runs_inserted() RETURNS trigger LANGUAGE plpgsql AS $fn$ BEGIN'
    || format(add_up, '(SELECT 1 AS sign, * FROM new_runs)')
    || 'RETURN NULL; END $fn$';
  EXECUTE 'CREATE FUNCTION runs_updated() RETURNS trigger LANGUAGE plpgsql AS $fn$ BEGIN'
    || ' IF NOT EXISTS (SELECT FROM new_runs) THEN RETURN NULL; END IF;'
    || format(add_up, '(SELECT -1 AS sign, * FROM old_runs UNION ALL SELECT 1, * FROM new_runs)')
    || 'RETURN NULL; END $fn$';
  EXECUTE 'CREATE FUNCTION runs_deleted() RETURNS trigger LANGUAGE plpgsql AS $fn$ BEGIN'
    || format(add_up, '(SELECT -1 AS sign, * FROM old_runs)')
    || 'RETURN NULL; END $fn$';
END $make$;

CREATE TRIGGER runs_inserted AFTER INSERT ON runs REFERENCING NEW TABLE AS new_runs
  FOR EACH STATEMENT EXECUTE FUNCTION runs_inserted();
CREATE TRIGGER runs_updated AFTER UPDATE ON runs REFERENCING OLD TABLE AS old_runs NEW TABLE AS new_runs
  FOR EACH STATEMENT EXECUTE FUNCTION runs_updated();
CREATE TRIGGER runs_deleted AFTER DELETE ON runs REFERENCING OLD TABLE AS old_runs
  FOR EACH STATEMENT EXECUTE FUNCTION runs_deleted();

CREATE TABLE run_feedback (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  root_task_id text NOT NULL,
  end_user_id uuid NOT NULL REFERENCES end_users ON DELETE CASCADE,
  score integer NOT NULL CHECK (score IN (1, -1)),
  comment text,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, root_task_id, end_user_id)
);
CREATE INDEX run_feedback_user ON run_feedback (end_user_id);
