import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { sealEnvelope } from "../../../road/admission/envelope.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { Broker } from "./broker.ts";
import { nameOf, usableRedirects } from "./client-documents.ts";

export const REGISTERED_PREFIX = "gwc_";

/** A client ID contains its own registration, sealed. Nothing is stored, so registrations need no limit. */
export function registerBridged(
  parts: Pick<AuthorizationParts, "secrets" | "clock">,
  { owner }: Pick<Broker, "owner">,
  metadata: Readonly<Record<string, unknown>>,
): Record<string, unknown> | Refusal {
  const redirectUris = usableRedirects(metadata.redirect_uris);
  if (redirectUris === null)
    return refuse(
      "oauth_invalid_redirect_uri",
      "redirect_uris must be addresses with https, of this machine, or with an application's own scheme.",
    );
  const grants = metadata.grant_types;
  if (grants !== undefined && !(Array.isArray(grants) && grants.includes("authorization_code")))
    return refuse("oauth_invalid_client_metadata", "grant_types must hold authorization_code.");
  const name = nameOf(metadata.client_name);
  return {
    client_id: REGISTERED_PREFIX + sealEnvelope(parts.secrets, "client", owner, { name, redirectUris }, null),
    client_id_issued_at: Math.floor(parts.clock.now() / 1000),
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}
