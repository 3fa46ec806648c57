import { adminEntryHash } from "@gatehouse/ledger-format/admin-entry";
import { sql, type Insertable, type Selectable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { AdminLogTable } from "../tables/ledger.ts";

export type AdminLogRow = Selectable<AdminLogTable>;

export interface AdminLogFilters {
  readonly resource?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly action?: string | undefined;
  readonly actor_id?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** An entry before it has its place in the chain. */
export type AdminLogInsert = Omit<Insertable<AdminLogTable>, "chain_seq" | "prev_hash" | "entry_hash"> & { readonly at: Date };

/** Appends entries and chains them. The lock on the chain's head is held until commit, so call this late in a transaction. */
export async function appendAdminLog(db: Database | Trx, entries: readonly AdminLogInsert[]): Promise<void> {
  if (entries.length === 0) return;
  if (!db.isTransaction) return db.transaction().execute((trx) => appendAdminLog(trx, entries));
  const head = await db.selectFrom("admin_log_head").select(["seq", "hash"]).forUpdate().executeTakeFirstOrThrow();
  let { seq, hash } = head;
  const chained = entries.map((entry) => {
    const place = { ...entry, chain_seq: seq + 1, prev_hash: hash };
    seq = place.chain_seq;
    // The hash must cover what will be read back, so members are hashed in the form that JSON returns.
    hash = adminEntryHash({
      ...place,
      tenant_id: entry.tenant_id ?? null,
      at: entry.at.toISOString(),
      actor_id: entry.actor_id ?? null,
      actor_username: entry.actor_username ?? null,
      actor_role: entry.actor_role ?? null,
      resource_id: entry.resource_id ?? null,
      before: parsed(entry.before),
      after: parsed(entry.after),
      client_ip: entry.client_ip ?? null,
      request_id: entry.request_id ?? null,
    });
    return { ...place, entry_hash: hash };
  });
  const written = db.insertInto("admin_log").values(chained);
  await db
    .with("written", () => written)
    .updateTable("admin_log_head")
    .set({ seq, hash, updated_at: sql`now()` })
    .execute();
}

const parsed = (json: string | null | undefined): unknown => (json === null || json === undefined ? null : JSON.parse(json));

/** Where the tenant's log begins: earlier entries under the same ID belong to a deleted tenant. */
export async function adminLogStartOf(db: Database | Trx, tenantId: string): Promise<number> {
  const { rows } = await sql<{
    seq: number | null;
  }>`SELECT max(chain_seq) AS seq FROM admin_log WHERE resource = 'tenants' AND action = 'create' AND resource_id = ${tenantId}`.execute(
    db,
  );
  return rows[0]?.seq ?? 0;
}

/** Newest first; a null tenant means all. */
export async function adminLogPage(
  db: Database,
  tenantId: string | null,
  filters: AdminLogFilters,
  page: Page,
): Promise<Paged<AdminLogRow>> {
  let query = db.selectFrom("admin_log");
  if (tenantId !== null)
    query = query.where("tenant_id", "=", tenantId).where(sql<boolean>`coalesce(chain_seq, 0) >= ${await adminLogStartOf(db, tenantId)}`);
  if (filters.resource !== undefined) query = query.where("resource", "=", filters.resource);
  if (filters.resource_id !== undefined) query = query.where("resource_id", "=", filters.resource_id);
  if (filters.action !== undefined) query = query.where("action", "=", filters.action);
  if (filters.actor_id !== undefined) query = query.where("actor_id", "=", filters.actor_id);
  if (filters.from !== undefined) query = query.where("at", ">=", new Date(filters.from));
  if (filters.to !== undefined) query = query.where("at", "<", new Date(filters.to));
  return pageOfRows(query, query.selectAll().orderBy("id", "desc"), page);
}
