-- An event of a tenant does not fail because one of its webhooks is being deleted at the same moment.
CREATE OR REPLACE FUNCTION queue_for_webhooks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, tenant_id, event, data)
  SELECT w.id, w.tenant_id, TG_ARGV[0], (SELECT jsonb_object_agg(key, value) FROM jsonb_each(to_jsonb(NEW)) WHERE key = ANY(TG_ARGV[1:]))
    FROM webhooks w
   WHERE w.tenant_id = NEW.tenant_id AND w.enabled AND TG_ARGV[0] = ANY(w.events)
     AND (SELECT count(*) FROM webhook_deliveries d WHERE d.webhook_id = w.id) < 1000
     FOR KEY SHARE OF w;
  RETURN NULL;
END $$;
