import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { findInTenant, idByName, type RecordStore, writesById } from "../records/record-store.ts";
import type { GuardrailConfigTable } from "../tables/policies.ts";

export type GuardrailConfigRow = Selectable<GuardrailConfigTable>;
export type GuardrailConfigInsert = Insertable<GuardrailConfigTable>;
export type GuardrailConfigPatch = Updateable<GuardrailConfigTable>;

export const guardrailConfigStore: RecordStore<
  GuardrailConfigRow,
  GuardrailConfigInsert,
  GuardrailConfigPatch,
  { readonly search?: string | undefined }
> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("guardrail_configs").where("tenant_id", "=", tenantId);
    if (filters.search !== undefined) query = query.where("name", "ilike", containing(filters.search));
    return pageOfRows(query, query.selectAll().orderBy("name"), page);
  },
  find: findInTenant("guardrail_configs"),
  ...writesById("guardrail_configs"),
};

export const guardrailConfigIdByName = idByName("guardrail_configs");

/** Names of configurations that use a guard model by one of these names or IDs; at most `limit`. */
export async function guardrailsAsking(db: Database | Trx, tenantId: string, called: readonly string[], limit: number): Promise<string[]> {
  const asks = (named: string) => sql<boolean>`providers @> ${JSON.stringify([{ provider: "guard_model", model: named }])}::jsonb`;
  const rows = await db
    .selectFrom("guardrail_configs")
    .select("name")
    .where("tenant_id", "=", tenantId)
    .where((eb) => eb.or(called.map(asks)))
    .orderBy("name")
    .limit(limit)
    .execute();
  return rows.map((row) => row.name);
}
