import type { Refusal } from "../../kernel/errors.ts";
import type { Call } from "../call.ts";
import { isRefusal } from "../surface.ts";
import { askJson } from "./ask-json.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { BrokerAnswer } from "./broker-request.ts";

/** Sends a client's own form on to the issuer it is registered with, and the answer back. `set` replaces members of it. */
export async function passForm(parts: Pick<AuthorizationParts, "send">, call: Call, url: string, form: URLSearchParams, set: Readonly<Record<string, string>>): Promise<BrokerAnswer | Refusal> {
  const sent = new URLSearchParams(form);
  for (const [name, value] of Object.entries(set)) sent.set(name, value);
  const own = call.headers.get("authorization");
  // How the client shows itself to the issuer; a key of the gateway is no such thing.
  const headers: Record<string, string> = own !== null && /^basic /i.test(own) ? { authorization: own } : {};
  const answer = await askJson(parts.send, { url, method: "POST", headers: { "content-type": "application/x-www-form-urlencoded", ...headers }, body: sent.toString() });
  return isRefusal(answer) ? answer : { kind: "json", status: answer.status, body: answer.body ?? {} };
}
