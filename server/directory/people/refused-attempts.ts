import type { Clock } from "../../kernel/clock.ts";
import { networkOf } from "../../kernel/http/ip-address.ts";
import type { Database } from "../../store/database.ts";
import { logAsActors, type Actor } from "../writes/write.ts";

/** An attempt on the control plane that was refused. */
interface RefusedAttempt {
  readonly actor: Actor;
  /** Of the account that tried; null for a stranger. */
  readonly tenantId: string | null;
  /** Method and path of the operation, with no value of the caller's in it. */
  readonly route: string;
  /** One of the gateway's own codes. */
  readonly reason: string;
}

interface Held {
  latest: RefusedAttempt;
  /** Not yet in the log. */
  attempts: number;
  since: number;
  /** When the next entry may be written. */
  dueAt: number;
}

const WINDOW_MS = 10 * 60_000;
const MAX_HELD = 500;

/**
 * Refused attempts on their way to the admin log, in the memory of this process. The first of an account or address for
 * a reason is written at once, those of the ten minutes after it in one more entry that counts them: a stranger may try
 * as often as they like and fills neither the database nor the memory. Addresses beyond the bound are counted together.
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

  /** Writes what is due, or all there is. What could not be written is there for the next time. */
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
