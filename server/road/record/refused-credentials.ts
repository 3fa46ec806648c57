import { BoundedMap } from "../../directory/bounded-map.ts";
import type { AlertWriter } from "../../directory/limits/alert-writer.ts";
import type { Clock } from "../../kernel/clock.ts";

/** Refused calls of one tenant within a minute that raise an alert. */
const MANY = 60;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const MAX_TENANTS = 10_000;

/** Alerts a tenant's administrators, at most once an hour, if many calls that named the tenant within a minute had no valid credential. */
export class RefusedCredentials {
  private readonly minutes = new BoundedMap<string, { readonly minute: number; calls: number }>(MAX_TENANTS);
  private readonly alerts: Pick<AlertWriter, "raise">;
  private readonly clock: Clock;

  constructor(alerts: Pick<AlertWriter, "raise">, clock: Clock) {
    this.alerts = alerts;
    this.clock = clock;
  }

  note(tenantId: string): void {
    const now = this.clock.now();
    const minute = Math.floor(now / MINUTE_MS);
    let counted = this.minutes.get(tenantId);
    if (counted?.minute !== minute) this.minutes.set(tenantId, (counted = { minute, calls: 0 }));
    counted.calls++;
    if (counted.calls !== MANY) return;
    const hour = Math.floor(now / HOUR_MS);
    this.alerts.raise({
      tenant_id: tenantId,
      alert_type: "refused_credentials",
      severity: "warning",
      title: "Many calls are refused for their credential",
      message:
        `${MANY} calls in the name of this tenant were refused within a minute because they showed no good credential. Their ` +
        `audit rows say from where (client_ip) and why (error_type).`,
      group_id: null,
      threshold_value: MANY,
      current_value: counted.calls,
      crossing: `refused_credentials ${hour}`,
      expires_at: new Date((hour + 1) * HOUR_MS),
    });
  }
}
