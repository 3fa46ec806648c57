import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { CollectorKeyTable } from "../tables/discovery.ts";

export type CollectorKeyRow = Selectable<CollectorKeyTable>;

interface CollectorKeyFilters {
  readonly search?: string | undefined;
  readonly status?: "active" | "revoked" | undefined;
}

export async function collectorKeyPage(
  db: Database,
  tenantId: string,
  { search, status }: CollectorKeyFilters,
  page: Page,
): Promise<Paged<CollectorKeyRow>> {
  let query = db.selectFrom("collector_keys").where("tenant_id", "=", tenantId);
  if (search !== undefined) query = query.where("collector_id", "ilike", containing(search));
  if (status !== undefined) query = query.where("revoked_at", status === "active" ? "is" : "is not", null);
  return pageOfRows(query, query.selectAll().orderBy("created_at", "desc").orderBy("id"), page);
}

export async function findCollectorKey(trx: Trx, tenantId: string, id: string): Promise<CollectorKeyRow | undefined> {
  const query = trx.selectFrom("collector_keys").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id);
  return query.forUpdate().executeTakeFirst();
}

/** Not scoped by tenant: a collector's signed request names its key, and the key determines the tenant. */
export async function collectorKeyById(db: Database | Trx, id: string): Promise<CollectorKeyRow | undefined> {
  return db.selectFrom("collector_keys").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function collectorKeyOf(trx: Trx, tenantId: string, publicKey: string): Promise<string | undefined> {
  const row = await trx
    .selectFrom("collector_keys")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("public_key", "=", publicKey)
    .executeTakeFirst();
  return row?.id;
}

export async function insertCollectorKey(trx: Trx, values: Insertable<CollectorKeyTable>): Promise<CollectorKeyRow> {
  return trx.insertInto("collector_keys").values(values).returningAll().executeTakeFirstOrThrow();
}

export async function revokeCollectorKeyRow(trx: Trx, id: string, at: Date): Promise<CollectorKeyRow> {
  return trx.updateTable("collector_keys").set({ revoked_at: at }).where("id", "=", id).returningAll().executeTakeFirstOrThrow();
}

/** Locks the key so that it cannot be revoked before the transaction ends; undefined if it is gone or revoked. */
export async function lockUsableKey(trx: Trx, id: string): Promise<CollectorKeyRow | undefined> {
  return trx.selectFrom("collector_keys").selectAll().where("id", "=", id).where("revoked_at", "is", null).forUpdate().executeTakeFirst();
}

export async function noteCollectorSeen(trx: Trx, id: string, at: Date, deviceId: string | null): Promise<void> {
  await trx.updateTable("collector_keys").set({ last_seen: at, device_id: deviceId }).where("id", "=", id).execute();
}

/** False if this key has used the nonce before. */
export async function useNonce(trx: Trx, keyId: string, nonce: string, at: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto("discovery_nonces")
    .values({ key_id: keyId, nonce, seen_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Records the IDs and returns those that this key did not send before. */
export async function newEventIds(trx: Trx, keyId: string, ids: readonly string[], at: Date): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ event_id: string }>`
    INSERT INTO discovery_events (key_id, event_id, seen_at)
    SELECT ${keyId}::uuid, event_id, ${at} FROM unnest(${ids as string[]}::text[]) AS sent (event_id)
    ON CONFLICT DO NOTHING RETURNING event_id`.execute(trx);
  return new Set(rows.map(({ event_id: id }) => id));
}

const NONCE_RETENTION_MS = 3_600_000;
const EVENT_RETENTION_MS = 30 * 86_400_000;

/** Nonces are kept as long as a request's timestamp would be accepted, event IDs as long as an event may be sent again. */
export async function pruneSeenEvents(db: Database, now: Date): Promise<void> {
  await sql`DELETE FROM discovery_nonces WHERE seen_at < ${new Date(now.getTime() - NONCE_RETENTION_MS)}`.execute(db);
  await sql`DELETE FROM discovery_events WHERE seen_at < ${new Date(now.getTime() - EVENT_RETENTION_MS)}`.execute(db);
}
