import { sha256Hex } from "../../../kernel/secrets.ts";
import type { Call } from "../../../road/call.ts";
import { presentedCredential } from "../../../road/admission/presented.ts";
import type { Proven } from "./flow.ts";
import type { Holder } from "../../../road/admission/gateway-tokens.ts";
import { principalOfIdentity } from "./principal.ts";

/** Who the request itself shows to be its sender; null when it shows nobody. */
export function holderOf(call: Call): Proven | null {
  const { identity, token } = call;
  if (identity === null) return null;
  const presented = presentedCredential(call.headers, call.url);
  const holder: Holder | null =
    presented.kind === "api_key"
      ? { kind: "key", hash: sha256Hex(presented.text) }
      : presented.kind === "token" && token !== null && identity.userId !== null
        ? { kind: "user", tenantId: identity.tenantId, userId: identity.userId, since: token.issuedAt }
        : null;
  return holder === null ? null : { holder, ...principalOfIdentity(identity) };
}
