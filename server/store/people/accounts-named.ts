import { sql } from "kysely";
import type { Trx } from "../database.ts";
import { unicodeForms } from "./usernames.ts";

/** The names by which records other than audit rows refer to a person. */
export interface PersonNames {
  readonly ids: readonly string[];
  readonly usernames: readonly string[];
}

/** The accounts that any of the names refers to, locked. */
export async function accountsNamed(
  trx: Trx,
  tenantId: string,
  { ids, usernames }: PersonNames,
): Promise<{ id: string; username: string }[]> {
  const { rows } = await sql<{ id: string; username: string }>`
    SELECT id, username FROM end_users
     WHERE tenant_id = ${tenantId} AND (id::text = ANY(${ids}) OR lower(username) = ANY(SELECT lower(u) FROM unnest(${unicodeForms(usernames)}::text[]) u))
     ORDER BY id FOR UPDATE`.execute(trx);
  return rows;
}
