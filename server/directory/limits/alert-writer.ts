import type { Log } from "../../kernel/log.ts";
import { resolveExpired } from "../../store/policies/alerts.ts";
import { type NewAlert, raiseAlert } from "../../store/policies/raise-alert.ts";
import type { Database } from "../../store/database.ts";
import { BoundedMap } from "../bounded-map.ts";

/** An alert to be written. */
export type { NewAlert } from "../../store/policies/raise-alert.ts";

const MAX_WAITING = 10_000;
const REMEMBERED = 10_000;

/** Writes alerts asynchronously: no call waits for one, and each threshold crossing is alerted once. */
export class AlertWriter {
  private readonly waiting: NewAlert[] = [];
  private readonly known = new BoundedMap<string, true>(REMEMBERED);
  private readonly db: Database;
  private readonly log: Log;

  constructor(db: Database, log: Log) {
    this.db = db;
    this.log = log;
  }

  raise(alert: NewAlert): void {
    const crossingKey = `${alert.tenant_id} ${alert.crossing}`;
    if (this.known.get(crossingKey) === true || this.waiting.length >= MAX_WAITING) return;
    this.known.set(crossingKey, true);
    this.waiting.push(alert);
  }

  /** Rejects if the database is unreachable; unwritten alerts are retried by the next flush. */
  async flush(): Promise<void> {
    for (let alert = this.waiting[0]; alert !== undefined; alert = this.waiting[0]) {
      if (await raiseAlert(this.db, alert))
        this.log.info("alert_raised", { tenant_id: alert.tenant_id, group_id: alert.group_id, alert_type: alert.alert_type });
      this.waiting.shift();
    }
  }

  async resolve(): Promise<void> {
    await resolveExpired(this.db);
  }
}
