import { sha256Hex } from "../../../kernel/secrets.ts";
import type { Call } from "../../../road/call.ts";
import { requestCredential } from "../../../road/admission/request-credential.ts";
import type { ProvenPrincipal } from "./flow.ts";
import type { Holder } from "../../../road/admission/gateway-tokens.ts";
import { principalOfIdentity } from "./principal.ts";

/** Who the request itself shows to be its sender; null when it shows nobody. */
export function requestHolder(call: Call): ProvenPrincipal | null {
  const { identity, token } = call;
  if (identity === null) return null;
  const credential = requestCredential(call.headers, call.url);
  const holder: Holder | null =
    credential.kind === "api_key"
      ? { kind: "key", hash: sha256Hex(credential.text) }
      : credential.kind === "token" && token !== null && identity.userId !== null
        ? { kind: "user", tenantId: identity.tenantId, userId: identity.userId, since: token.issuedAt, signedOn: token.signedOn }
        : null;
  return holder === null ? null : { holder, ...principalOfIdentity(identity) };
}
