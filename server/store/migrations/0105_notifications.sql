-- What people are told: alerts, notifications, and the notice that an AI is speaking.

-- crossing names what was crossed: one alert for each, however many processes saw it.
CREATE TABLE alerts (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  alert_type text NOT NULL,
  severity text NOT NULL,
  title text NOT NULL,
  message text NOT NULL,
  group_id uuid REFERENCES resource_groups ON DELETE CASCADE,
  threshold_value double precision,
  current_value double precision,
  resolved boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  crossing text NOT NULL,
  -- When the window it tells of is over, and the alert with it; null: somebody has to resolve it.
  expires_at timestamptz,
  UNIQUE (tenant_id, crossing)
);
CREATE INDEX alerts_tenant ON alerts (tenant_id, id);
CREATE INDEX alerts_group ON alerts (group_id, id);
CREATE INDEX alerts_running ON alerts (expires_at) WHERE NOT resolved;

CREATE TABLE alert_acknowledgements (
  alert_id text NOT NULL REFERENCES alerts ON DELETE CASCADE,
  end_user_id uuid NOT NULL REFERENCES end_users ON DELETE CASCADE,
  acknowledged_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (alert_id, end_user_id)
);
CREATE INDEX alert_acknowledgements_user ON alert_acknowledgements (end_user_id);

CREATE TABLE notifications (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  end_user_id uuid NOT NULL REFERENCES end_users ON DELETE CASCADE,
  notification_type text NOT NULL,
  title text NOT NULL,
  body text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  is_read boolean NOT NULL DEFAULT false,
  read_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz
);
CREATE INDEX notifications_user ON notifications (end_user_id, id);
CREATE INDEX notifications_expiry ON notifications (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX notifications_age ON notifications (tenant_id, created_at);

-- What people were told of an approval goes with it.
CREATE INDEX notifications_approval ON notifications ((metadata->>'approval_id')) WHERE metadata->>'approval_id' IS NOT NULL;

-- Tells the runtime processes what to pass on to people who have the portal open. A notice names the record only: who
-- may see it is looked up by whoever passes it on.
CREATE FUNCTION tell_portals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('gatehouse_portal', json_build_object('kind', TG_ARGV[0], 'tenant_id', NEW.tenant_id, 'id', NEW.id)::text);
  RETURN NULL;
END $$;
CREATE TRIGGER alerts_told AFTER INSERT OR UPDATE OF resolved ON alerts FOR EACH ROW EXECUTE FUNCTION tell_portals('alert');
CREATE TRIGGER approvals_told AFTER INSERT OR UPDATE OF status ON approvals FOR EACH ROW EXECUTE FUNCTION tell_portals('approval');

-- A notification is one person's: a crossing tells thousands, and who has no portal open is to cost no look-up.
CREATE FUNCTION tell_portal_of_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('gatehouse_portal', json_build_object('kind', 'notification', 'tenant_id', NEW.tenant_id, 'id', NEW.id, 'user_id', NEW.end_user_id)::text);
  RETURN NULL;
END $$;
CREATE TRIGGER notifications_told AFTER INSERT ON notifications FOR EACH ROW EXECUTE FUNCTION tell_portal_of_person();

-- What people are told before they talk to an AI system: one row for a tenant, and one for each system that differs.
CREATE TABLE notice_configs (
  id uuid PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  ai_system_id uuid REFERENCES resource_groups ON DELETE CASCADE,
  enabled boolean NOT NULL,
  surface text NOT NULL,
  texts jsonb NOT NULL,
  exemption jsonb,
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE NULLS NOT DISTINCT (tenant_id, ai_system_id)
);
CREATE INDEX notice_configs_system ON notice_configs (ai_system_id);

-- The notices sealed for each conversation, so that its inference records can refer to the earliest. The records
-- themselves are on audit rows.
CREATE TABLE conversation_notices (
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  conversation_handle text NOT NULL,
  method text NOT NULL,
  record_id text NOT NULL,
  noticed_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, conversation_handle, method)
);
