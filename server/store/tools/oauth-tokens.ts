import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { OAuthTokenTable } from "../tables/oauth.ts";

export type OAuthTokenRow = Selectable<OAuthTokenTable>;
type OAuthTokenInsert = Insertable<OAuthTokenTable>;

/** On whose behalf a tool server is called: a person, or a key that belongs to nobody. */
export interface OAuthPrincipal {
  readonly tenantId: string;
  readonly type: "api_key" | "user";
  readonly id: string;
}

/** The newest of the principal's tokens for the server. */
export async function newestToken(db: Database, principal: OAuthPrincipal, serverId: string): Promise<OAuthTokenRow | undefined> {
  return ofPrincipal(db, principal).where("mcp_server_id", "=", serverId).orderBy("updated_at", "desc").limit(1).executeTakeFirst();
}

/** Issuers of the principal's tokens for the server. */
export async function issuersOf(db: Database, principal: OAuthPrincipal, serverId: string): Promise<string[]> {
  return (await ofPrincipal(db, principal).where("mcp_server_id", "=", serverId).execute()).map(({ issuer }) => issuer);
}

/** Newest first. */
export async function tokensOf(db: Database, principal: OAuthPrincipal, serverId: string, issuer: string): Promise<OAuthTokenRow[]> {
  return ofPrincipal(db, principal)
    .where("mcp_server_id", "=", serverId)
    .where("issuer", "=", issuer)
    .orderBy("updated_at", "desc")
    .execute();
}

export async function tokenById(db: Database, tenantId: string, id: string): Promise<OAuthTokenRow | undefined> {
  return db.selectFrom("oauth_tokens").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst();
}

/** Longer than the timeout for an authorization server. */
export const RENEWAL_SECONDS = 20;

/** Whether the caller may renew exactly these tokens now: one renewal at a time across all processes. */
export async function beginRenewal(
  db: Database,
  row: Pick<OAuthTokenRow, "id" | "access_token_sealed">,
  renewalId: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE oauth_tokens SET renewal_id = ${renewalId}, renewal_ends = now() + ${RENEWAL_SECONDS} * interval '1 second'
     WHERE id = ${row.id} AND access_token_sealed = ${row.access_token_sealed} AND (renewal_ends IS NULL OR renewal_ends <= now())`.execute(
    db,
  );
  return numAffectedRows === 1n;
}

/** Lets the next caller try. */
export async function abandonRenewal(db: Database, renewalId: string, id: string): Promise<void> {
  await db
    .updateTable("oauth_tokens")
    .set({ renewal_id: null, renewal_ends: null })
    .where("id", "=", id)
    .where("renewal_id", "=", renewalId)
    .execute();
}

/** Locked until the transaction ends. */
export async function lockedToken(trx: Trx, tenantId: string, id: string): Promise<OAuthTokenRow | undefined> {
  return trx.selectFrom("oauth_tokens").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).forUpdate().executeTakeFirst();
}

/**
 * Replaces the principal's tokens of this issuer for this server, keeping the row's ID; `created_at` is that of the new tokens. Ends a
 * renewal of the old ones.
 */
export async function putToken(trx: Trx, given: Omit<OAuthTokenInsert, "renewal_id" | "renewal_ends">): Promise<OAuthTokenRow> {
  const values = { ...given, renewal_id: null, renewal_ends: null };
  const { id: _id, ...replaced } = values;
  return trx
    .insertInto("oauth_tokens")
    .values(values)
    .onConflict((conflict) =>
      conflict.columns(["tenant_id", "principal_type", "principal_id", "mcp_server_id", "issuer"]).doUpdateSet(replaced),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function removeToken(trx: Trx, tenantId: string, id: string): Promise<void> {
  await trx.deleteFrom("oauth_tokens").where("tenant_id", "=", tenantId).where("id", "=", id).execute();
}

/** Deletes and returns tokens whose principal is gone for good: a revoked key or a deleted person. */
export async function pruneOrphanTokens(db: Database): Promise<OAuthTokenRow[]> {
  // Two statements, so that each scans the possible holders once and not once per token.
  const { rows: ofPeople } =
    await sql<OAuthTokenRow>`DELETE FROM oauth_tokens t WHERE t.principal_type = 'user' AND NOT EXISTS (SELECT 1 FROM end_users u WHERE u.id::text = t.principal_id) RETURNING t.*`.execute(
      db,
    );
  const { rows: ofKeys } =
    await sql<OAuthTokenRow>`DELETE FROM oauth_tokens t WHERE t.principal_type <> 'user' AND NOT EXISTS (SELECT 1 FROM api_keys k WHERE k.id::text = t.principal_id AND k.revoked_at IS NULL) RETURNING t.*`.execute(
      db,
    );
  return [...ofPeople, ...ofKeys];
}

function ofPrincipal(db: Database, { tenantId, type, id }: OAuthPrincipal) {
  return db
    .selectFrom("oauth_tokens")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("principal_type", "=", type)
    .where("principal_id", "=", id);
}
