-- Tells the runtime processes what to pass on to people who have the portal open. A notice names the record only: who
-- may see it is looked up by whoever passes it on.
CREATE FUNCTION tell_portals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('gatehouse_portal', json_build_object('kind', TG_ARGV[0], 'tenant_id', NEW.tenant_id, 'id', NEW.id)::text);
  RETURN NULL;
END $$;
CREATE TRIGGER notifications_told AFTER INSERT ON notifications FOR EACH ROW EXECUTE FUNCTION tell_portals('notification');
CREATE TRIGGER alerts_told AFTER INSERT OR UPDATE OF resolved ON alerts FOR EACH ROW EXECUTE FUNCTION tell_portals('alert');
