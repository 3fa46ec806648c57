import type { Principal } from "../../../directory/tools/oauth-tokens.ts";
import type { Identity } from "../../../road/call.ts";

/** The principal for which tool servers are called: the person behind the credential, or else the key itself. */
export function principalOfIdentity({ tenantId, userId, credentialId }: Identity): Principal {
  return userId === null ? { tenantId, type: "api_key", id: credentialId } : { tenantId, type: "user", id: userId };
}
