-- Responses that providers keep, by the ids they gave them: whose each is, and where it is. A caller goes on with or asks for
-- those of their own only. Of one that is written in the background also what it takes to find out what it used.
CREATE TABLE stored_responses (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  id text NOT NULL,
  resource_group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  end_user_id uuid REFERENCES end_users ON DELETE CASCADE,
  -- Of those in the background.
  api_key_id uuid REFERENCES api_keys ON DELETE SET NULL,
  model_id text NOT NULL,
  model text NOT NULL,
  provider_key text NOT NULL,
  -- The call that made it, and what its own row has of that.
  request_id text NOT NULL,
  root_task_id text,
  correlation_id text,
  client_ip text NOT NULL,
  input_characters bigint NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- When the provider is asked next what it used; null where its call told that, or a row of its own has.
  look_at timestamptz,
  looks integer NOT NULL DEFAULT 0,
  -- Whether its call tells what it used, if it sees the end of it.
  streamed boolean NOT NULL,
  -- What of budgets is held for it, and by the process of which chain.
  held_tokens bigint NOT NULL,
  held_micro_usd bigint NOT NULL,
  chain text,
  -- The row that tells what it used: named before it is written, so that nobody writes another one.
  settlement_id text,
  settling_since timestamptz,
  used jsonb,
  PRIMARY KEY (tenant_id, id)
);
-- They come in the order in which they expire.
CREATE INDEX stored_responses_expiring ON stored_responses USING brin (expires_at);
CREATE INDEX stored_responses_of_group ON stored_responses (resource_group_id);
CREATE INDEX stored_responses_of_person ON stored_responses (end_user_id) WHERE end_user_id IS NOT NULL;
CREATE INDEX stored_responses_of_key ON stored_responses (api_key_id) WHERE api_key_id IS NOT NULL;
CREATE INDEX stored_responses_under_way ON stored_responses (look_at) WHERE look_at IS NOT NULL;
