import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { looksLikeApiKey } from "../../../kernel/secrets.ts";
import type { Call } from "../../../road/call.ts";
import { requestJson, type JsonResponse } from "./request-json.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { BrokerAnswer } from "./broker-request.ts";

/** The issuer's answer for its own client; an unreadable answer becomes an error. */
export function forwardedAnswer({ status, body, text }: JsonResponse): BrokerAnswer | Refusal {
  return body === null
    ? refuse("upstream_invalid_response", "The authorization server gave an answer that cannot be read.", {
        reason: `it answered ${status}`,
      })
    : { kind: "passed", status, text };
}

/** Forwards a client's form to the issuer where the client is registered. `set` replaces members. */
export async function forwardForm(
  parts: Pick<AuthorizationParts, "send">,
  call: Call,
  url: string,
  form: URLSearchParams,
  set: Readonly<Record<string, string>>,
): Promise<JsonResponse | Refusal> {
  const sent = new URLSearchParams(form);
  for (const [name, value] of Object.entries(set)) sent.set(name, value);
  const own = call.headers.get("authorization");
  // The client's authentication at the issuer.
  const basic = own !== null && /^basic /i.test(own) ? own : null;
  const shown = [...sent.values(), ...(basic === null ? [] : Buffer.from(basic.slice(6), "base64").toString().split(":"))];
  if (shown.some(looksLikeApiKey)) return refuse("oauth_invalid_request", "A key of this gateway is not for the authorization server.");
  const headers: Record<string, string> = basic === null ? {} : { authorization: basic };
  return requestJson(parts.send, {
    url,
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: sent.toString(),
  });
}
