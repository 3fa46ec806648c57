import type { Insertable } from "kysely";
import type { Database, Trx } from "./database.ts";
import type { EndUserTable } from "./schema.ts";

export async function insertEndUser(trx: Trx, values: Insertable<EndUserTable>): Promise<void> {
  await trx.insertInto("end_users").values(values).execute();
}

export async function endUserExists(db: Database | Trx, tenantId: string, id: string): Promise<boolean> {
  return (await db.selectFrom("end_users").select("id").where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst()) !== undefined;
}
