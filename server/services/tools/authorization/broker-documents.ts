import type { JsonValue } from "../../../kernel/json-value.ts";
import { configuredClient } from "../../../directory/tools/oauth-upstream-clients.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { Broker } from "./broker.ts";

/** Members of the issuer's metadata that also apply to the broker. */
const PASSED = [
  "jwks_uri",
  "subject_types_supported",
  "id_token_signing_alg_values_supported",
  "claims_supported",
  "service_documentation",
  "op_policy_uri",
  "op_tos_uri",
  "ui_locales_supported",
] as const;

/** These members are a string or a list of strings. */
function isPlain(value: JsonValue | undefined): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.every((item) => typeof item === "string"));
}

/** The issuer's metadata with the broker's addresses in the place of its own (RFC 8414, OpenID Connect Discovery). */
export function serverDocument({ at, broker }: Broker, clientDocuments: boolean) {
  const passed = Object.fromEntries(PASSED.flatMap((name) => (isPlain(at.raw[name]) ? [[name, at.raw[name]]] : [])));
  return {
    ...passed,
    issuer: broker,
    authorization_endpoint: `${broker}/authorize`,
    token_endpoint: `${broker}/token`,
    registration_endpoint: `${broker}/register`,
    revocation_endpoint: `${broker}/revoke`,
    ...(at.scopes.length === 0 ? {} : { scopes_supported: at.scopes }),
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: passesRegistrations(at) ? [...new Set(["none", ...at.tokenAuthMethods])] : ["none"],
    client_id_metadata_document_supported: clientDocuments,
    authorization_response_iss_parameter_supported: !passesRegistrations(at),
  };
}

/**
 * Whether clients register with the issuer itself and are sent straight to it. An issuer that sends `iss` in its responses is always
 * bridged, because the client expects the broker's name there.
 */
export function passesRegistrations(at: Broker["at"]): boolean {
  return at.registrationEndpoint !== null && !at.namesItself;
}

/** Whether the gateway can be the issuer's client on behalf of clients identified by a metadata document. */
export async function takesClientDocuments(parts: Pick<AuthorizationParts, "db">, { tenantId, id, at }: Broker): Promise<boolean> {
  return at.registrationEndpoint !== null || at.clientDocuments || (await configuredClient(parts, tenantId, id))?.issuer === at.issuer;
}
