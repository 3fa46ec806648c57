CREATE TRIGGER approvals_told AFTER INSERT OR UPDATE OF status ON approvals FOR EACH ROW EXECUTE FUNCTION tell_portals('approval');
