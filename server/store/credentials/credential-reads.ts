import { sql } from "kysely";
import type { Database } from "../database.ts";

export interface CredentialRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly scope: string;
  readonly resource_group_id: string | null;
  readonly end_user_id: string | null;
  /** Null for all skills of its group. */
  readonly allowed_skill_ids: readonly string[] | null;
  /** Null for every address. */
  readonly allowed_addresses: readonly string[] | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  /** If the value presented is from before a rotation: until when it is accepted. */
  readonly previous_valid_until: Date | null;
  readonly is_previous: boolean;
}

export async function readCredential(db: Database, keyHash: string): Promise<CredentialRow | null> {
  const row = await db
    .selectFrom("api_keys as k")
    .leftJoin("former_key_values as f", (join) => join.onRef("f.api_key_id", "=", "k.id").on("f.key_hash", "=", keyHash))
    .select(["k.id", "k.tenant_id", "k.name", "k.scope", "k.resource_group_id", "k.end_user_id", "k.expires_at", "k.revoked_at"])
    .select(["k.allowed_skill_ids", "k.allowed_addresses"])
    .select((eb) => eb.fn.coalesce("f.valid_until", "k.previous_valid_until").as("previous_valid_until"))
    .select((eb) => eb("k.key_hash", "<>", keyHash).as("is_previous"))
    .where((eb) =>
      eb.or([
        eb("k.key_hash", "=", keyHash),
        eb("k.previous_hash", "=", keyHash),
        eb("k.id", "in", eb.selectFrom("former_key_values").select("api_key_id").where("key_hash", "=", keyHash)),
      ]),
    )
    .executeTakeFirst();
  return (row as CredentialRow | undefined) ?? null;
}

/** The key's name; null if there is no such key. */
export async function readKeyName(db: Database, tenantId: string, id: string): Promise<string | null> {
  const row = await db.selectFrom("api_keys").select("name").where("id", "=", id).where("tenant_id", "=", tenantId).executeTakeFirst();
  return row?.name ?? null;
}

/** Matches key IDs. A workload's ID is its issuer's ID followed by its subject. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a key or a workload's issuer is still valid; for a person, whether they own a valid key for the group. */
export async function readsAsGood(
  db: Database,
  tenantId: string,
  of: string | { readonly userId: string; readonly groupId: string },
): Promise<boolean> {
  const keys = db
    .selectFrom("api_keys")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("revoked_at", "is", null)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", sql<Date>`now()`)]))
    .limit(1);
  if (typeof of !== "string")
    return (await keys.where("end_user_id", "=", of.userId).where("resource_group_id", "=", of.groupId).executeTakeFirst()) !== undefined;
  if (UUID.test(of)) return (await keys.where("id", "=", of).executeTakeFirst()) !== undefined;
  const [issuer = ""] = of.split(":");
  const issuers = db.selectFrom("identity_providers").select("id").where("tenant_id", "=", tenantId).where("enabled", "=", true);
  return (await issuers.where(sql<string>`id::text`, "=", issuer).executeTakeFirst()) !== undefined;
}

/** Updates when keys were last used. `uses` holds the newest use of each key that this process saw. */
export async function writeLastUsed(db: Database, uses: ReadonlyMap<string, Date>): Promise<void> {
  if (uses.size === 0) return;
  const ids = [...uses.keys()];
  const times = [...uses.values()].map((time) => time.toISOString());
  await sql`UPDATE api_keys k SET last_used_at = u.at
              FROM unnest(${ids}::uuid[], ${times}::timestamptz[]) AS u(id, at)
             WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)`.execute(db);
}
