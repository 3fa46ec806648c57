-- What refers to a person, a group or a model is looked for when one of them goes: in each of these tables, and for each that goes.
CREATE INDEX api_keys_end_user ON api_keys (end_user_id) WHERE end_user_id IS NOT NULL;
CREATE INDEX run_feedback_user ON run_feedback (end_user_id);
CREATE INDEX alert_acknowledgements_user ON alert_acknowledgements (end_user_id);
CREATE INDEX alerts_group ON alerts (group_id, id);
CREATE INDEX notice_configs_system ON notice_configs (ai_system_id);
CREATE INDEX argument_policy_groups_group ON argument_policy_groups (group_id);
CREATE INDEX semantic_policy_groups_group ON semantic_policy_groups (group_id);
CREATE INDEX semantic_cache_config_groups_group ON semantic_cache_config_groups (group_id);
CREATE INDEX semantic_policies_judge ON semantic_policies (judge_model_id);
CREATE INDEX semantic_cache_configs_embedding ON semantic_cache_configs (embedding_model_id);

-- The workers look for what is over every few seconds, and need not read what has been over for long.
CREATE INDEX approvals_running ON approvals (expires_at) WHERE status = 'pending' OR (status = 'approved' AND consumed_at IS NULL);
DROP INDEX approvals_open;
CREATE INDEX alerts_running ON alerts (expires_at) WHERE NOT resolved;
CREATE INDEX notifications_expiry ON notifications (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX notifications_age ON notifications (tenant_id, created_at);
-- What people were told of an approval goes with it.
CREATE INDEX notifications_approval ON notifications ((metadata->>'approval_id')) WHERE metadata->>'approval_id' IS NOT NULL;

-- What a person may see of a tenant's approvals: those they asked for, and those of their groups.
CREATE INDEX approvals_requester ON approvals (requester_id);
CREATE INDEX approvals_requester_group ON approvals (requester_group_id);
CREATE INDEX approvals_approvers ON approvals USING gin (approver_group_ids);

-- A notification is one person's: a crossing tells thousands, and who has no portal open is to cost no look-up.
CREATE FUNCTION tell_portal_of_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('gatehouse_portal', json_build_object('kind', 'notification', 'tenant_id', NEW.tenant_id, 'id', NEW.id, 'user_id', NEW.end_user_id)::text);
  RETURN NULL;
END $$;
DROP TRIGGER notifications_told ON notifications;
CREATE TRIGGER notifications_told AFTER INSERT ON notifications FOR EACH ROW EXECUTE FUNCTION tell_portal_of_person();
