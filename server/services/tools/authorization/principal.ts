import type { Principal } from "../../../directory/tools/oauth-tokens.ts";
import type { Identity } from "../../../road/call.ts";

/** In whose name tool servers are reached: the person behind the credential, else the key itself. */
export function principalOfIdentity({ tenantId, userId, credentialId }: Identity): Principal {
  return userId === null ? { tenantId, type: "api_key", id: credentialId } : { tenantId, type: "user", id: userId };
}
