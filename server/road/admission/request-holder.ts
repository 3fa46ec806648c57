import { sha256Hex } from "../../kernel/secrets.ts";
import type { Call } from "../call.ts";
import type { Holder } from "./gateway-tokens.ts";
import { requestCredential } from "./request-credential.ts";

/** The holder to store for later calls on behalf of an admitted request; null for a credential that cannot be looked up again. */
export function requestHolder({ identity, token, headers, url }: Call): Holder | null {
  if (identity === null) return null;
  const credential = requestCredential(headers, url);
  if (credential.kind === "api_key") return { kind: "key", hash: sha256Hex(credential.text) };
  if (credential.kind !== "token" || token === null || identity.userId === null) return null;
  return { kind: "user", tenantId: identity.tenantId, userId: identity.userId, since: token.issuedAt, signedOn: token.signedOn };
}
