import type { Clock } from "../../kernel/clock.ts";
import { networkOf } from "../../kernel/http/ip-address.ts";
import type { Database } from "../../store/database.ts";
import { logAsActors, type Actor } from "../writes/write.ts";

/** A refused attempt on the control plane. */
interface RefusedAttempt {
  readonly actor: Actor;
  /** The tenant of the account that tried; null for an unknown caller. */
  readonly tenantId: string | null;
  /** Method and path template of the operation, without values from the caller. */
  readonly route: string;
  /** One of the gateway's own error codes. */
  readonly reason: string;
}

interface Held {
  latest: RefusedAttempt;
  /** Attempts not yet logged. */
  attempts: number;
  since: number;
  /** When the next entry may be written. */
  dueAt: number;
}

const WINDOW_MS = 10 * 60_000;
const MAX_HELD = 500;

/**
 * Collects refused attempts for the admin log in this process's memory. The first one per account or address and reason is
 * logged at once, those of the following ten minutes in one entry with their count, so that attackers fill neither
 * database nor memory. Addresses beyond a limit are counted together.
 */
export class RefusedAttempts {
  private readonly db: Database;
  private readonly clock: Clock;
  private readonly held = new Map<string, Held>();

  constructor(db: Database, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  note(attempt: RefusedAttempt): void {
    const { actor, reason } = attempt;
    const key = JSON.stringify([reason, actor.id, actor.id === null ? networkOf(actor.clientIp ?? "") : null]);
    if (this.held.has(key) || this.held.size < MAX_HELD) return this.count(key, attempt);
    this.count(JSON.stringify([reason]), {
      ...attempt,
      tenantId: null,
      actor: { id: null, username: null, role: null, clientIp: null, requestId: actor.requestId },
    });
  }

  private count(key: string, attempt: RefusedAttempt): void {
    const now = this.clock.now();
    const held = this.held.get(key);
    if (held === undefined) {
      this.held.set(key, { latest: attempt, attempts: 1, since: now, dueAt: now });
      return;
    }
    if (held.attempts === 0) held.since = now;
    held.attempts++;
    held.latest = attempt;
  }

  /** Writes the entries that are due, or all. Those that cannot be written are kept for the next call. */
  async write(which: "due" | "all" = "due"): Promise<void> {
    const now = this.clock.now();
    const due: { held: Held; attempts: number; latest: RefusedAttempt; since: number }[] = [];
    for (const [key, held] of this.held) {
      if (which === "due" && held.dueAt > now) continue;
      if (held.attempts === 0) this.held.delete(key);
      else due.push({ held, attempts: held.attempts, latest: held.latest, since: held.since });
    }
    if (due.length === 0) return;
    const entries = due.map(({ attempts, since, latest: { actor, tenantId, route, reason } }) => ({
      actor,
      entry: {
        tenant_id: tenantId,
        action: "refused",
        resource: route,
        resource_id: null,
        after: { reason, attempts, since: new Date(since).toISOString() },
      },
    }));
    await logAsActors(this.db, new Date(now), entries);
    for (const { held, attempts } of due) {
      held.attempts -= attempts;
      held.since = now;
      held.dueAt = now + WINDOW_MS;
    }
  }
}
