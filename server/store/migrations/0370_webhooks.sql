-- Where a tenant's alerts go besides the console and the portal: to chats and to programs of the tenant's own.
CREATE TABLE webhooks (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  format text NOT NULL,
  -- The address, which often is a credential itself, and the secret that messages are signed with.
  endpoint_sealed text NOT NULL,
  has_signing_secret boolean NOT NULL,
  -- What may be shown of the address.
  url_origin text NOT NULL,
  events text[] NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  last_delivered_at timestamptz,
  last_failed_at timestamptz,
  last_error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);

-- Messages that are still to be delivered. Once delivered or given up they are removed.
CREATE TABLE webhook_deliveries (
  id text PRIMARY KEY DEFAULT 'msg_' || replace(gen_random_uuid()::text, '-', ''),
  webhook_id uuid NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  event text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL DEFAULT now(),
  attempts bigint NOT NULL DEFAULT 0
);
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, created_at);
CREATE INDEX webhook_deliveries_tenant ON webhook_deliveries (tenant_id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at);

-- Queues an event for each webhook that wants it, with the columns named after the event. Of a receiver that is away, a thousand wait.
CREATE FUNCTION queue_for_webhooks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, tenant_id, event, data)
  SELECT w.id, w.tenant_id, TG_ARGV[0], (SELECT jsonb_object_agg(key, value) FROM jsonb_each(to_jsonb(NEW)) WHERE key = ANY(TG_ARGV[1:]))
    FROM webhooks w
   WHERE w.tenant_id = NEW.tenant_id AND w.enabled AND TG_ARGV[0] = ANY(w.events)
     AND (SELECT count(*) FROM webhook_deliveries d WHERE d.webhook_id = w.id) < 1000;
  RETURN NULL;
END $$;
CREATE TRIGGER alerts_to_webhooks AFTER INSERT ON alerts FOR EACH ROW
  EXECUTE FUNCTION queue_for_webhooks('alert.raised', 'id', 'alert_type', 'severity', 'title', 'message', 'group_id', 'threshold_value', 'current_value', 'usage_limit', 'created_at');
CREATE TRIGGER approvals_to_webhooks AFTER INSERT ON approvals FOR EACH ROW WHEN (NEW.status = 'pending')
  EXECUTE FUNCTION queue_for_webhooks('approval.requested', 'id', 'server_name', 'capability_type', 'capability_name', 'requester_type', 'requester_group_id', 'approver_group_ids', 'created_at', 'expires_at');
CREATE TRIGGER drift_findings_to_webhooks AFTER INSERT ON drift_findings FOR EACH ROW
  EXECUTE FUNCTION queue_for_webhooks('drift_finding.opened', 'id', 'ai_system_id', 'kind', 'severity', 'subject', 'title', 'first_seen');
