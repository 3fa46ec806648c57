-- Agents that are reached by A2A, who may call them, and the tasks they work on.

-- The id is `agent-` and a ULID. What follows the timeout is what the last card that was found says; skills_digest is that
-- of its skills, by which a grant tells whether they are still those it was given for.
CREATE TABLE agents (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  card_name text NOT NULL,
  name text NOT NULL,
  description text,
  direction text NOT NULL DEFAULT 'outbound',
  card_url text,
  base_url text,
  auth_type text NOT NULL DEFAULT 'none',
  credentials_sealed text,
  timeout double precision NOT NULL DEFAULT 60,
  enabled boolean NOT NULL DEFAULT true,
  skills_allowed text[],
  resource_group_id uuid REFERENCES resource_groups ON DELETE SET NULL,
  endpoint_url text,
  protocol_version text,
  dialect text,
  upstream_card jsonb,
  published_card jsonb,
  skills_digest text,
  discovered_at timestamptz,
  is_healthy boolean,
  health_checked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, card_name)
);
CREATE INDEX agents_group ON agents (resource_group_id);

-- skills_digest is null until the agent's first card was found, which the grant then takes for what it was given for.
CREATE TABLE agent_grants (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  agent_id text NOT NULL REFERENCES agents ON DELETE CASCADE,
  skill_ids text[],
  decision text NOT NULL DEFAULT 'allow',
  max_depth bigint,
  enabled boolean NOT NULL DEFAULT true,
  approval_timeout_seconds bigint NOT NULL DEFAULT 900,
  approver_group_ids uuid[] NOT NULL DEFAULT '{}',
  skills_digest text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX agent_grants_agent ON agent_grants (agent_id);
CREATE INDEX agent_grants_tenant ON agent_grants (tenant_id);

CREATE TABLE agent_grant_groups (
  grant_id uuid NOT NULL REFERENCES agent_grants ON DELETE CASCADE,
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  PRIMARY KEY (grant_id, group_id)
);
CREATE INDEX agent_grant_groups_group ON agent_grant_groups (group_id);

-- The Ed25519 keys that sign a tenant's cards and notifications. Without retires_at: the newest.
CREATE TABLE agent_signing_keys (
  kid text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  public_key text NOT NULL,
  private_key_sealed text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  retires_at timestamptz
);
CREATE UNIQUE INDEX agent_signing_keys_newest ON agent_signing_keys (tenant_id) WHERE retires_at IS NULL;

-- Who began which task at an agent: to everybody else it is not there. The id is the agent's own; no two callers can have
-- one of the same agent. task is the task as its owner was last shown it, null where the tenant stores no bodies.
CREATE TABLE agent_tasks (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  agent_id text NOT NULL REFERENCES agents ON DELETE CASCADE,
  id text NOT NULL,
  context_id text NOT NULL,
  owner_kind text NOT NULL,
  owner_id text NOT NULL,
  resource_group_id uuid NOT NULL,
  state text NOT NULL,
  status_at timestamptz NOT NULL,
  task text,
  root_task_id text NOT NULL,
  depth bigint NOT NULL,
  protocol_version text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- A process watches the task for those who are to be notified until this moment; another one may take it over afterwards.
  watched_until timestamptz,
  -- Digest of the status that was last put before those who are to be notified.
  told_digest text,
  PRIMARY KEY (tenant_id, agent_id, id)
);
CREATE INDEX agent_tasks_owner ON agent_tasks (tenant_id, owner_id, agent_id, status_at DESC, id);
CREATE INDEX agent_tasks_newest ON agent_tasks (tenant_id, created_at DESC);
CREATE INDEX agent_tasks_agent ON agent_tasks (agent_id);
CREATE INDEX agent_tasks_age ON agent_tasks (updated_at);

-- Contexts by the name their owner has for them, and the name the agent has. A name that a caller made up is another one at
-- the agent, so that nobody gets into somebody else's context by guessing it.
CREATE TABLE agent_contexts (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  agent_id text NOT NULL REFERENCES agents ON DELETE CASCADE,
  owner_id text NOT NULL,
  context_id text NOT NULL,
  upstream_context_id text NOT NULL,
  used_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, agent_id, owner_id, context_id)
);
CREATE INDEX agent_contexts_upstream ON agent_contexts (tenant_id, agent_id, upstream_context_id);
CREATE INDEX agent_contexts_agent ON agent_contexts (agent_id);
CREATE INDEX agent_contexts_age ON agent_contexts (used_at);

-- Who is to be told of a task. secrets_sealed holds token and credentials.
CREATE TABLE agent_push_configs (
  tenant_id text NOT NULL,
  agent_id text NOT NULL,
  task_id text NOT NULL,
  id text NOT NULL,
  url text NOT NULL,
  scheme text,
  secrets_sealed text,
  protocol_version text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, agent_id, task_id, id),
  FOREIGN KEY (tenant_id, agent_id, task_id) REFERENCES agent_tasks (tenant_id, agent_id, id) ON DELETE CASCADE
);

-- What is still to be delivered, in order for each who is told. A delivery that was made, or given up, is gone.
CREATE TABLE agent_push_deliveries (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  agent_id text NOT NULL,
  task_id text NOT NULL,
  config_id text NOT NULL,
  body text NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (tenant_id, agent_id, task_id, config_id) REFERENCES agent_push_configs ON DELETE CASCADE
);
CREATE INDEX agent_push_deliveries_config ON agent_push_deliveries (tenant_id, agent_id, task_id, config_id, id);
CREATE INDEX agent_push_deliveries_due ON agent_push_deliveries (due_at);
