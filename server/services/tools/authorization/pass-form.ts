import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { looksLikeApiKey } from "../../../kernel/secrets.ts";
import type { Call } from "../../../road/call.ts";
import { askJson, type JsonAnswer } from "./ask-json.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { BrokerAnswer } from "./broker-request.ts";

/** What an issuer answered to a client of its own; what a client could not read is told as what it is. */
export function passed({ status, body, text }: JsonAnswer): BrokerAnswer | Refusal {
  return body === null
    ? refuse("upstream_invalid_response", "The authorization server gave an answer that cannot be read.", {
        reason: `it answered ${status}`,
      })
    : { kind: "passed", status, text };
}

/** Sends a client's own form on to the issuer it is registered with. `set` replaces members of it. */
export async function passForm(
  parts: Pick<AuthorizationParts, "send">,
  call: Call,
  url: string,
  form: URLSearchParams,
  set: Readonly<Record<string, string>>,
): Promise<JsonAnswer | Refusal> {
  const sent = new URLSearchParams(form);
  for (const [name, value] of Object.entries(set)) sent.set(name, value);
  const own = call.headers.get("authorization");
  // How the client shows itself to the issuer.
  const basic = own !== null && /^basic /i.test(own) ? own : null;
  const shown = [...sent.values(), ...(basic === null ? [] : Buffer.from(basic.slice(6), "base64").toString().split(":"))];
  if (shown.some(looksLikeApiKey)) return refuse("oauth_invalid_request", "A key of this gateway is not for the authorization server.");
  const headers: Record<string, string> = basic === null ? {} : { authorization: basic };
  return askJson(parts.send, {
    url,
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: sent.toString(),
  });
}
