import { type Insertable, sql } from "kysely";
import type { Database } from "../database.ts";
import type { StoredSignatureTable } from "../schema.ts";

type KeptSignatureRow = Insertable<StoredSignatureTable>;

/** A repeated call ID replaces the older entry. No two rows may have the same name. */
export async function writeStoredSignatures(db: Database, rows: readonly KeptSignatureRow[]): Promise<void> {
  // Nothing can be stored for a tenant that was deleted in the meantime.
  const known = await db
    .selectFrom("tenants")
    .select("id")
    .where("id", "in", [...new Set(rows.map(({ tenant_id }) => tenant_id))])
    .execute();
  const tenants = new Set(known.map(({ id }) => id));
  const left = rows.filter(({ tenant_id }) => tenants.has(tenant_id));
  if (left.length === 0) return;
  await db
    .insertInto("kept_signatures")
    .values(left)
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_id", "name"])
        .doUpdateSet((eb) => ({ sealed: eb.ref("excluded.sealed"), expires_at: eb.ref("excluded.expires_at") })),
    )
    .execute();
}

/** Entries with these names that have not expired. */
export async function readStoredSignatures(
  db: Database,
  tenantId: string,
  names: readonly string[],
): Promise<{ name: string; sealed: string; expires_at: Date }[]> {
  return db
    .selectFrom("kept_signatures")
    .select(["name", "sealed", "expires_at"])
    .where("tenant_id", "=", tenantId)
    .where("name", "in", names)
    .where("expires_at", ">", sql<Date>`now()`)
    .execute();
}

export async function pruneStoredSignatures(db: Database): Promise<void> {
  await db
    .deleteFrom("kept_signatures")
    .where("expires_at", "<=", sql<Date>`now()`)
    .execute();
}
