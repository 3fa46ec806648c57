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

/** For the transaction that keeps the tokens it stands for. */
export async function storeGrant(trx: Trx, grant: Parameters<typeof insertGrant>[1]): Promise<void> {
  await insertGrant(trx, grant);
}

/** Turns a grant's refresh token over. `replayed` when it was not the newest; null when there is no such grant. */
export async function rotateRefreshToken({ db }: Pick<Directory, "db">, one: GrantRotation): Promise<"turned" | "replayed" | null> {
  return rotateGrant(db, one);
}

export interface EndedGrant {
  /** Whose tokens changed, as the change names them. */
  readonly ref: string;
  /** The tokens when this was their last client and they can be decrypted, so that they can be revoked at their issuer. */
  readonly dropped: StoredTokens | null;
}

/** Ends what a client was given, and with the last client the tokens it stood for. Null when there is no such grant. */
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
