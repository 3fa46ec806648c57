import type { ApiKey } from "@gatehouse/contracts/api-keys";
import type { OwnKey, OwnKeys } from "@gatehouse/contracts/portal-keys";
import { keysOfUser } from "../../../store/credentials/api-keys.ts";
import { tenantAllowsOwnKeys } from "../../../store/tenants/tenants.ts";
import { readApiKey, revokeApiKey } from "../../credentials/api-keys.ts";
import { notFound } from "../../writes/records.ts";
import { type Directory, write } from "../../writes/write.ts";
import { type PortalOrigin, userActor } from "./portal-logins.ts";

/** More than a person can have in use; active keys come first. */
export const OWN_KEYS_SHOWN = 200;

export interface OwnKeyHolder {
  readonly tenantId: string;
  readonly userId: string;
}

export function ownKeyOf({ id, name, key_hint, status, expires_at, revoked_at, last_used_at, created_at }: ApiKey): OwnKey {
  return { id, name, key_hint, status, expires_at, revoked_at, last_used_at, created_at };
}

export async function listOwnKeys({ db, clock }: Directory, { tenantId, userId }: OwnKeyHolder): Promise<OwnKeys> {
  const now = new Date(clock.now());
  const rows = await keysOfUser(db, tenantId, userId, now, OWN_KEYS_SHOWN);
  return {
    api_keys: rows.map((row) => ownKeyOf(readApiKey(row, now))),
    total: rows.length,
    may_create: await tenantAllowsOwnKeys(db, tenantId),
  };
}

/** Allowed even if the tenant forbids creating keys, because existing ones must remain revocable. */
export function revokeOwnKey(directory: Directory, { tenantId, userId }: OwnKeyHolder, id: string, origin: PortalOrigin): Promise<OwnKey> {
  return write(directory, userActor({ id: userId }, origin), async (change) => {
    const owned = await keysOfUser(change.trx, tenantId, userId, change.now, null);
    if (!owned.some((row) => row.id === id)) throw notFound("API key");
    return ownKeyOf(await revokeApiKey(change, tenantId, id));
  });
}
