import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { looksLikeApiKey, sha256Hex } from "../../../kernel/secrets.ts";
import { admitAs } from "../../../road/admission/admit.ts";
import type { Call } from "../../../road/call.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import { consentQuestion } from "./authorize.ts";
import type { BrokerAnswer, BrokerRequest } from "./broker-request.ts";
import type { Broker } from "./broker.ts";
import { expiredBrowserBinding, isSameBrowser, openRequestedAuthorization, type ProvenPrincipal } from "./flow.ts";
import { principalOfIdentity } from "./principal.ts";
import { toIssuer } from "./to-issuer.ts";
import { withQuery } from "./with-query.ts";

/** Handles the answer to the consent page: on to the issuer, or back to the client. */
export async function decideConsent(
  parts: AuthorizationParts,
  call: Call,
  broker: Broker,
  { form }: BrokerRequest,
): Promise<BrokerAnswer | Refusal> {
  const { origin } = new URL(broker.broker);
  const from = call.headers.get("origin");
  const opened = openRequestedAuthorization(parts, broker, form.get("request") ?? "");
  if (opened === null || (from !== null && from !== origin && from !== "null") || !isSameBrowser(call, opened.browser))
    return refuse("oauth_answer_refused");
  const { wanted, browser } = opened;
  if (form.get("decision") !== "allow") {
    const cookie = expiredBrowserBinding(broker, browser);
    return wanted.kind === "client"
      ? { kind: "redirect", to: withQuery(wanted.redirectUri, { error: "access_denied", state: wanted.state, iss: broker.broker }), cookie }
      : { kind: "page", title: "Not connected", text: "Nothing was connected. You may close this page.", cookie };
  }
  const proven = await provenBy(parts, call, broker, (form.get("api_key") ?? "").trim());
  if (typeof proven === "string") return consentQuestion(parts, broker, wanted, proven);
  if (
    wanted.kind === "connect" &&
    (proven === null || proven.tenantId !== wanted.tenantId || proven.type !== wanted.type || proven.id !== wanted.id)
  )
    return consentQuestion(parts, broker, wanted, "This is not the API key that the link was made for.");
  return toIssuer(parts, broker, wanted, proven, browser);
}

/** Null if no key was given; a string says what is wrong with it. */
async function provenBy(parts: AuthorizationParts, call: Call, broker: Broker, key: string): Promise<ProvenPrincipal | string | null> {
  if (key === "") return null;
  const refused = looksLikeApiKey(key) ? await admitAs(call, { kind: "api_key", text: key }, "group", parts) : refuse("unauthenticated");
  const { identity, scope } = call;
  // The form contains secrets; without a scope, the call's bodies are not stored.
  call.scope = null;
  if (refused !== null || identity === null || scope === null || identity.tenantId !== broker.tenantId) return "This API key is not valid.";
  if (!scope.tools.has(broker.id)) return "This API key may not use this tool server.";
  return { holder: { kind: "key", hash: sha256Hex(key) }, ...principalOfIdentity(identity) };
}
