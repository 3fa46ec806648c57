import type { Clock } from "../../kernel/clock.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { ulid } from "../../kernel/ids.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import { appendAdminLog } from "../../store/ledger/admin-log.ts";
import type { ChangeTopic } from "../../store/records/config-changes.ts";
import { recordChanges } from "../../store/records/record-changes.ts";
import type { Database, Trx } from "../../store/database.ts";
import { lockName } from "../../store/connections/named-lock.ts";
import { Unchanged, isUnchanged } from "./unchanged.ts";

/** The dependencies of the directory. */
export interface Directory {
  readonly db: Database;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  /** Argon2id, which is deliberately slow. */
  readonly hashPassword: (password: string) => Promise<string>;
  /** The name of the model that judges if neither the policy nor its tenant names one. */
  readonly fallbackJudge: string | null;
}

/** Who makes a change. The IDs are null for the gateway itself. */
export interface Actor {
  readonly id: string | null;
  readonly username: string | null;
  readonly role: string | null;
  readonly clientIp: string | null;
  readonly requestId: string | null;
}

export interface LogEntry {
  readonly tenant_id: string | null;
  readonly action: string;
  readonly resource: string;
  readonly resource_id: string | null;
  /** As shown to readers of the resource: never contains a secret. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A change in progress. Everything done through `trx` is committed together with its log entries and notices, or not at all. */
export interface Write {
  readonly trx: Trx;
  readonly now: Date;
  readonly actor: Actor;
  readonly directory: Directory;
  log(entry: LogEntry): void;
  /** Tells the runtime processes what to renew. */
  notify(tenantId: string, topic: ChangeTopic, ref?: string): void;
  /**
   * Ends a write that changes nothing, so that it moves no `updated_at`, adds no log entry and renews nothing: if `before`
   * and `after` differ at most in that timestamp and nothing was logged, the transaction is rolled back and `answer`
   * returned.
   */
  stay(before: object, after: object, answer: unknown): void;
}

// Conflicts between concurrent writers: unique violation, foreign key violation, serialization failure, deadlock. A retry
// sees the other's work and refuses with a proper message.
const RETRYABLE = new Set(["23505", "23503", "40001", "40P01"]);
const MAX_ATTEMPTS = 4;

/** Not retried, because a deleted tenant does not come back. */
const isWithoutTenant = (error: { code?: unknown; constraint?: unknown }) =>
  error.code === "23503" && String(error.constraint).endsWith("_tenant_id_fkey");

/**
 * Runs `work` in one transaction, together with its admin log entries and change notices. A `Refused` thrown in it rolls
 * everything back. `work` may run more than once, so it must have no effects outside the transaction.
 */
export async function write<T>(directory: Directory, actor: Actor, work: (write: Write) => Promise<T>): Promise<T> {
  for (let look = 1; ; look++) {
    try {
      return await attempt(directory, actor, work);
    } catch (error) {
      if (error instanceof Unchanged) return error.answer as T;
      if (isWithoutTenant(error as object)) throw new Refused(refuse("not_found", "There is no such tenant."));
      if (look >= MAX_ATTEMPTS || !RETRYABLE.has(String((error as { code?: unknown }).code))) throw error;
    }
  }
}

async function attempt<T>(directory: Directory, actor: Actor, work: (write: Write) => Promise<T>): Promise<T> {
  return directory.db.transaction().execute(async (trx) => {
    const entries: LogEntry[] = [];
    const notices = new Map<string, { tenant_id: string; topic: ChangeTopic; ref?: string }>();
    const result = await work({
      trx,
      now: new Date(directory.clock.now()),
      actor,
      directory,
      log: (entry) => entries.push(entry),
      notify: (tenantId, topic, ref) =>
        notices.set(`${tenantId} ${topic} ${ref ?? ""}`, { tenant_id: tenantId, topic, ...(ref === undefined ? {} : { ref }) }),
      stay(before, after, answer) {
        if (entries.length === 0 && isUnchanged(before, after)) throw new Unchanged(answer);
      },
    });
    if (entries.length === 0) throw new Error("a change was made that the admin log does not tell of");
    await logEntries(trx, actor, new Date(directory.clock.now()), entries);
    // Last, because the change counter is a single row that every writer waits for.
    await recordChanges(trx, [...notices.values()]);
    return result;
  });
}

/** Takes an advisory lock until the transaction ends, so that changes of a record that span several tables are serialized. */
export function holdRecord({ trx }: Write, name: string): Promise<void> {
  return lockName(trx, `record ${name}`);
}

/** Appends entries for events that change no record, such as a login. */
export function logEntries(db: Database | Trx, actor: Actor, at: Date, entries: readonly LogEntry[]): Promise<void> {
  return logAsActors(
    db,
    at,
    entries.map((entry) => ({ actor, entry })),
  );
}

/** Like `logEntries`, for several actors at once. */
export async function logAsActors(
  db: Database | Trx,
  at: Date,
  entries: readonly { readonly actor: Actor; readonly entry: LogEntry }[],
): Promise<void> {
  await appendAdminLog(
    db,
    entries.map(({ actor, entry }) => ({
      id: ulid(),
      tenant_id: entry.tenant_id,
      at,
      actor_id: actor.id,
      actor_username: actor.username,
      actor_role: actor.role,
      action: entry.action,
      resource: entry.resource,
      resource_id: entry.resource_id,
      before: entry.before === undefined ? null : JSON.stringify(entry.before),
      after: entry.after === undefined ? null : JSON.stringify(entry.after),
      client_ip: actor.clientIp,
      request_id: actor.requestId,
    })),
  );
}
