import { recordChanges } from "../../store/records/record-changes.ts";
import type { Trx } from "../../store/database.ts";
import {
  grantsOfToken,
  insertGrant,
  removeGrant,
  tokenOfGrant,
  type GrantRotation,
  rotateGrant,
} from "../../store/tools/oauth-client-grants.ts";
import { lockedToken } from "../../store/tools/oauth-tokens.ts";
import type { Directory } from "../writes/write.ts";
import { dropLockedTokens, type StoredTokens, tokenRef } from "./oauth-tokens.ts";

/** Must run in the transaction that stores the tokens behind the grant. */
export async function storeGrant(trx: Trx, grant: Parameters<typeof insertGrant>[1]): Promise<void> {
  await insertGrant(trx, grant);
}

/** Rotates a grant's refresh token. `replayed` if the given one was not the newest; null if there is no such grant. */
export async function rotateRefreshToken({ db }: Pick<Directory, "db">, one: GrantRotation): Promise<"turned" | "replayed" | null> {
  return rotateGrant(db, one);
}

export interface EndedGrant {
  /** The holder of the changed tokens, as change notices name it. */
  readonly ref: string;
  /** The tokens if this was their last client and they can be decrypted, so that they can be revoked at their issuer. */
  readonly dropped: StoredTokens | null;
}

/** Ends a client's grant, and with the last client also the tokens behind it. Null if there is no such grant. */
export async function endGrant(
  parts: Pick<Directory, "db" | "secrets" | "clock">,
  tenantId: string,
  grantId: string,
): Promise<EndedGrant | null> {
  return parts.db.transaction().execute(async (trx) => {
    const tokenId = await tokenOfGrant(trx, tenantId, grantId);
    const row = tokenId === undefined ? undefined : await lockedToken(trx, tenantId, tokenId);
    if (row === undefined) return null;
    await removeGrant(trx, tenantId, grantId);
    const dropped = (await grantsOfToken(trx, row.id)).length === 0 ? await dropLockedTokens(parts, trx, row) : null;
    const ref = tokenRef({ tenantId, type: row.principal_type as "api_key" | "user", id: row.principal_id }, row.mcp_server_id);
    await recordChanges(trx, [{ tenant_id: tenantId, topic: "oauth_tokens", ref }]);
    return { ref, dropped };
  });
}
