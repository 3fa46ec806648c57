import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { registerBridged } from "./register-bridged.ts";
import { requestJson } from "./request-json.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { Broker } from "./broker.ts";
import { passesRegistrations } from "./broker-documents.ts";
import type { BrokerAnswer, BrokerRequest } from "./broker-request.ts";
import { forwardedAnswer } from "./forward-form.ts";

/** Dynamic client registration (RFC 7591): at the issuer itself where clients go straight to it, otherwise with the broker. */
export async function registerClient(parts: AuthorizationParts, broker: Broker, { json }: BrokerRequest): Promise<BrokerAnswer | Refusal> {
  if (json === null) return refuse("oauth_invalid_client_metadata", "The body must be a JSON object.");
  if (passesRegistrations(broker.at)) {
    const answer = await requestJson(parts.send, {
      url: broker.at.registrationEndpoint as string,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(json),
    });
    return isRefusal(answer) ? answer : forwardedAnswer(answer);
  }
  const registered = registerBridged(parts, broker, json);
  return isRefusal(registered) ? registered : { kind: "json", status: 201, body: registered };
}
