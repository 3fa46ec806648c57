import type { Broker } from "./broker.ts";
import { withQuery } from "./with-query.ts";

/** The issuer's authorization URL with the client's own parameters, for the resource that the gateway represents. */
export function straightToIssuer(broker: Broker, query: URLSearchParams): string {
  const PASSED = [
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
    "nonce",
    "prompt",
    "login_hint",
    "max_age",
  ];
  return withQuery(broker.at.authorizationEndpoint, {
    ...Object.fromEntries(PASSED.map((name) => [name, query.get(name)])),
    resource: broker.says.resource,
  });
}
