import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { OAuthTokenTable } from "../tables/oauth.ts";

export type OAuthTokenRow = Selectable<OAuthTokenTable>;
type OAuthTokenInsert = Insertable<OAuthTokenTable>;

/** In whose name a tool server is reached: a person, or a key that belongs to none. */
export interface OAuthPrincipal {
  readonly tenantId: string;
  readonly type: "api_key" | "user";
  readonly id: string;
}

/** The newest of the principal's tokens for the server. */
export async function newestToken(db: Database, principal: OAuthPrincipal, serverId: string): Promise<OAuthTokenRow | undefined> {
  return ofPrincipal(db, principal).where("mcp_server_id", "=", serverId).orderBy("updated_at", "desc").limit(1).executeTakeFirst();
}

/** Whose tokens the principal has for the server. */
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

/** Longer than an authorization server is waited for. */
export const RENEWAL_SECONDS = 20;

/** Whether these very tokens are the caller's to renew now: over all processes one renewal at a time is under way. */
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

/** For the next one to try. */
export async function abandonRenewal(db: Database, renewalId: string, id: string): Promise<void> {
  await db
    .updateTable("oauth_tokens")
    .set({ renewal_id: null, renewal_ends: null })
    .where("id", "=", id)
    .where("renewal_id", "=", renewalId)
    .execute();
}

/** Held until the transaction ends. */
export async function lockedToken(trx: Trx, tenantId: string, id: string): Promise<OAuthTokenRow | undefined> {
  return trx.selectFrom("oauth_tokens").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).forUpdate().executeTakeFirst();
}

/**
 * Replaces what the principal holds of this issuer for this server, under the id it has; `created_at` is of what replaces
 * it. A renewal of what was there before is over.
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

/** Deletes the tokens of whoever is gone for good, a revoked key or a person who is no more, and returns what was there. */
export async function pruneOrphanTokens(db: Database): Promise<OAuthTokenRow[]> {
  // Apart, so that each is one look at all who could hold one, and not one for each token.
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
