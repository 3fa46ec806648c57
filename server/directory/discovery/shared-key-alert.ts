import type { CollectorKeyRow } from "../../store/discovery/collector-keys.ts";

const KEYS_ALERT = "collector_key_shared";

export const sharedKeyAlert = ({ id, tenant_id, collector_id: collector }: CollectorKeyRow) => ({
  tenant_id,
  alert_type: KEYS_ALERT,
  severity: "high",
  title: "A collector key was used on two devices",
  message: `The key of ${collector} told of another device than its own. Revoke it if it was copied.`,
  group_id: null,
  threshold_value: 1,
  current_value: 2,
  crossing: `${KEYS_ALERT} ${id}`,
  expires_at: null,
});
