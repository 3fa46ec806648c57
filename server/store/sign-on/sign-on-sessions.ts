import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { SignOnSessionTable } from "../tables/identity.ts";

export type SignOnSessionRow = Selectable<SignOnSessionTable>;

/**
 * How a provider identifies a session that it signs out: by session if it gives one, otherwise all of the subject. Sessions of the subject
 * that were begun without a session ID may be the one meant.
 */
export interface NamedSession {
  readonly providerId: string;
  readonly subjectHash: string | null;
  readonly sessionHash: string | null;
}

export async function insertSignOnSession(db: Database | Trx, row: Insertable<SignOnSessionTable>): Promise<void> {
  await db.insertInto("sign_on_sessions").values(row).execute();
}

/** Deletes and returns the matching sessions. */
export async function takeSignOnSessions(trx: Trx, { providerId, subjectHash, sessionHash }: NamedSession): Promise<SignOnSessionRow[]> {
  let query = trx.deleteFrom("sign_on_sessions").where("provider_id", "=", providerId);
  if (subjectHash !== null) query = query.where("subject_hash", "=", subjectHash);
  if (sessionHash !== null)
    query = query.where((row) =>
      row.or([row("session_hash", "=", sessionHash), ...(subjectHash === null ? [] : [row("session_hash", "is", null)])]),
    );
  return query.returningAll().execute();
}

/** Deletes the account's sessions and returns the newest whose provider may be asked to sign out. */
export async function takeRequestedSignOut(
  db: Database,
  account: { readonly column: "end_user_id" | "admin_user_id"; readonly id: string },
  now: Date,
): Promise<SignOnSessionRow | undefined> {
  const gone = await db.deleteFrom("sign_on_sessions").where(account.column, "=", account.id).returningAll().execute();
  const withProviderSession = gone.filter((row) => row.id_token_sealed !== null && row.expires_at > now);
  return withProviderSession.toSorted((a, b) => b.created_at.getTime() - a.created_at.getTime())[0];
}

export async function pruneSignOnSessions(db: Database, now: Date): Promise<void> {
  await db.deleteFrom("sign_on_sessions").where("expires_at", "<", now).execute();
}

/** IDs of accounts, by the table they are in. */
export interface AccountIds {
  readonly endUserIds: readonly string[];
  readonly adminIds: readonly string[];
}

/** Accounts that ever signed in through the provider; only these can have sessions. */
export async function accountsSignedInBy(trx: Trx, providerId: string): Promise<AccountIds> {
  const rows = await trx
    .selectFrom("external_identities")
    .select(["end_user_id", "admin_user_id"])
    .where("provider_id", "=", providerId)
    .where("last_login", "is not", null)
    .execute();
  return {
    endUserIds: [...new Set(rows.flatMap((row) => row.end_user_id ?? []))],
    adminIds: [...new Set(rows.flatMap((row) => row.admin_user_id ?? []))],
  };
}

/** Administrators of the tenant who have a second factor, and an identity provider that asks for none. */
export async function adminsWithoutSecondFactor(trx: Trx, tenantId: string): Promise<string[]> {
  const rows = await trx
    .selectFrom("admin_users as a")
    .innerJoin("external_identities as e", "e.admin_user_id", "a.id")
    .innerJoin("identity_providers as p", "p.id", "e.provider_id")
    .select("a.id")
    .distinct()
    .where("a.tenant_id", "=", tenantId)
    .where("a.totp_enabled", "=", true)
    .where(sql<boolean>`p.settings->>'two_factor_at_provider' IS DISTINCT FROM 'true'`)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Accounts of the tenant with a password that works only while the tenant accepts passwords: not administrators with `break_glass`, nor
 * people who still have to replace theirs.
 */
export async function accountsWithPassword(trx: Trx, tenantId: string, noPassword: string): Promise<AccountIds> {
  const people = await trx
    .selectFrom("end_users")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("password_hash", "<>", noPassword)
    .where("must_change_password", "=", false)
    .execute();
  const admins = await trx
    .selectFrom("admin_users")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("password_hash", "<>", noPassword)
    .where("break_glass", "=", false)
    .execute();
  return { endUserIds: people.map(({ id }) => id), adminIds: admins.map(({ id }) => id) };
}

/** Ends all sessions and tokens of the accounts. `now` is called once the locks are held, so that nobody is signing in to them. */
export async function endSessionsOfAccounts(
  trx: Trx,
  tenantId: string,
  { endUserIds, adminIds }: AccountIds,
  now: () => Date,
): Promise<void> {
  const tables = [
    ["end_users", "end_user_id", endUserIds],
    ["admin_users", "admin_user_id", adminIds],
  ] as const;
  for (const [table, column, ids] of tables) {
    if (ids.length === 0) continue;
    // Locks in one order, so that two transactions ending the same sessions cannot deadlock.
    await sql`SELECT FROM ${sql.table(table)} WHERE tenant_id = ${tenantId} AND id = ANY(${[...ids]}::uuid[]) ORDER BY id FOR UPDATE`.execute(
      trx,
    );
    await sql`
      UPDATE ${sql.table(table)} SET tokens_valid_from = greatest(${now()}::timestamptz, tokens_valid_from) + interval '1 millisecond'
       WHERE tenant_id = ${tenantId} AND id = ANY(${[...ids]}::uuid[])`.execute(trx);
    await sql`DELETE FROM page_sessions WHERE ${sql.ref(column)} = ANY(${[...ids]}::uuid[])`.execute(trx);
    await sql`DELETE FROM sign_on_sessions WHERE ${sql.ref(column)} = ANY(${[...ids]}::uuid[])`.execute(trx);
  }
}
