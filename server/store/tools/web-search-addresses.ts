import type { Database } from "../database.ts";

/** Digests of a caller and of an address it was given. */
export interface ReturnedAddress {
  readonly tenantId: string;
  readonly principal: string;
  readonly address: string;
}

export async function storeReturnedAddresses(db: Database, given: readonly ReturnedAddress[], expiresAt: Date): Promise<void> {
  if (given.length === 0) return;
  await db
    .insertInto("web_search_addresses")
    .values(given.map(({ tenantId, principal, address }) => ({ tenant_id: tenantId, principal, address, expires_at: expiresAt })))
    .onConflict((conflict) => conflict.columns(["tenant_id", "principal", "address"]).doUpdateSet({ expires_at: expiresAt }))
    .execute();
}

export async function wasReturned(db: Database, { tenantId, principal, address }: ReturnedAddress, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom("web_search_addresses")
    .select("address")
    .where("tenant_id", "=", tenantId)
    .where("principal", "=", principal)
    .where("address", "=", address)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row !== undefined;
}

export async function pruneReturnedAddresses(db: Database, now: Date): Promise<void> {
  await db.deleteFrom("web_search_addresses").where("expires_at", "<=", now).execute();
}
