import type { ApiKey } from "@gatehouse/contracts/api-keys";
import type { MintedOwnKey, OwnKeyCreate } from "@gatehouse/contracts/portal-keys";
import { refuse, Refused } from "../../../kernel/errors.ts";
import { keysOfUser, keysOfUserSince, lockKeysOfUser } from "../../../store/credentials/api-keys.ts";
import { tenantAllowsOwnKeys } from "../../../store/tenants/tenants.ts";
import { createOwnedKey, readApiKey } from "../../credentials/api-keys.ts";
import { type Directory, write } from "../../writes/write.ts";
import { type OwnKeyHolder, OWN_KEYS_SHOWN, ownKeyOf } from "./own-keys.ts";
import { type PortalOrigin, userActor } from "./portal-logins.ts";

const MAX_ACTIVE = 20;
const MAX_PER_DAY = 100;
const DAY_MS = 86_400_000;

/**
 * Creates a key without rights of its own: each call may use what the owner may use at that moment, so leaving a group
 * applies to the key too.
 */
export function createOwnKey(
  directory: Directory,
  { tenantId, userId }: OwnKeyHolder,
  body: OwnKeyCreate,
  origin: PortalOrigin,
): Promise<MintedOwnKey> {
  return write(directory, userActor({ id: userId }, origin), async (change) => {
    if (!(await tenantAllowsOwnKeys(change.trx, tenantId))) throw new Refused(refuse("own_keys_off"));
    await lockKeysOfUser(change.trx, userId);
    const active = (await keysOfUser(change.trx, tenantId, userId, change.now, OWN_KEYS_SHOWN))
      .map((row) => readApiKey(row, change.now))
      .filter(isActive);
    if (active.some(({ name }) => name === body.name))
      throw new Refused(refuse("conflict", "You already have an active API key of this name."));
    const lately = await keysOfUserSince(change.trx, tenantId, userId, new Date(change.now.getTime() - DAY_MS));
    if (active.length >= MAX_ACTIVE || lately >= MAX_PER_DAY)
      throw new Refused(
        refuse("conflict", `You may have ${MAX_ACTIVE} active API keys, and make ${MAX_PER_DAY} in a day. Revoke one first.`),
      );
    const minted = await createOwnedKey(change, tenantId, userId, { name: body.name, expires_at: body.expires_at ?? null });
    const { key } = minted;
    return { ...ownKeyOf(minted), key_value: key, full_key: key, key };
  });
}

const isActive = ({ status }: ApiKey) => status === "active";
