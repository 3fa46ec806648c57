import type { Insertable } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { OAuthClientGrantTable } from "../tables/oauth.ts";

export async function insertGrant(trx: Trx, values: Insertable<OAuthClientGrantTable>): Promise<void> {
  await trx.insertInto("oauth_client_grants").values(values).execute();
}

export interface GrantRotation {
  readonly tenantId: string;
  readonly grantId: string;
  readonly nonce: string;
  readonly nextNonce: string;
}

/** Rotates a grant's refresh token. `replayed` if the presented one was not the newest; null if there is no such grant. */
export async function rotateGrant(
  db: Database,
  { tenantId, grantId, nonce, nextNonce }: GrantRotation,
): Promise<"turned" | "replayed" | null> {
  const turned = await db
    .updateTable("oauth_client_grants")
    .set({ nonce: nextNonce, used_at: new Date() })
    .where("tenant_id", "=", tenantId)
    .where("id", "=", grantId)
    .where("nonce", "=", nonce)
    .returning("id")
    .executeTakeFirst();
  if (turned !== undefined) return "turned";
  return (await tokenOfGrant(db, tenantId, grantId)) === undefined ? null : "replayed";
}

/** ID of the token row behind the grant; undefined once the grant has ended. */
export async function tokenOfGrant(db: Database | Trx, tenantId: string, grantId: string): Promise<string | undefined> {
  return (
    await db
      .selectFrom("oauth_client_grants")
      .select("token_id")
      .where("tenant_id", "=", tenantId)
      .where("id", "=", grantId)
      .executeTakeFirst()
  )?.token_id;
}

export async function removeGrant(db: Database | Trx, tenantId: string, grantId: string): Promise<void> {
  await db.deleteFrom("oauth_client_grants").where("tenant_id", "=", tenantId).where("id", "=", grantId).execute();
}

export async function grantsOfToken(db: Database | Trx, tokenId: string): Promise<string[]> {
  const rows = await db.selectFrom("oauth_client_grants").select("id").where("token_id", "=", tokenId).execute();
  return rows.map(({ id }) => id);
}
