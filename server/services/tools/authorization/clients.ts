import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { Broker } from "./broker.ts";
import { documentClient, isDocumentAddress, nameOf, usableRedirects } from "./client-documents.ts";
import { openEnvelope, sealEnvelope } from "../../../road/admission/envelope.ts";
import { isLoopback } from "./upstream-clients.ts";

/** A client of the broker that is bridged: its codes and tokens are the gateway's. */
export interface BridgedClient {
  readonly hash: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

const REGISTERED = "gwc_";

/** A registration holds itself: nothing is stored, so anybody may register any number of times. */
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
    client_id: REGISTERED + sealEnvelope(parts.secrets, "client", owner, { name, redirectUris }, null),
    client_id_issued_at: Math.floor(parts.clock.now() / 1000),
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

/** Null for an id that is neither this broker's nor a document's: a client the issuer itself may know. */
export async function bridgedClient(
  parts: Pick<AuthorizationParts, "secrets" | "clock" | "send" | "memory" | "allowPrivate">,
  { owner }: Pick<Broker, "owner">,
  clientId: string,
): Promise<BridgedClient | Refusal | null> {
  const hash = sha256Hex(clientId);
  if (clientId.startsWith(REGISTERED)) {
    const value = openEnvelope(parts.secrets, "client", owner, clientId.slice(REGISTERED.length), parts.clock.now());
    const redirectUris = usableRedirects(value?.redirectUris);
    return value === null || redirectUris === null ? refuse("oauth_invalid_client") : { hash, name: nameOf(value.name), redirectUris };
  }
  if (!/^https?:/i.test(clientId)) return null;
  if (!isDocumentAddress(clientId, parts.allowPrivate))
    return refuse("oauth_invalid_client", undefined, { reason: "client_id is no address of a document" });
  const document = await documentClient(parts, clientId);
  return isRefusal(document) ? document : { hash, name: document.clientName, redirectUris: document.redirectUris };
}

/** Compared as text, whole; a listener on this machine may choose its port (RFC 8252, 7.3). */
export function mayRedirect({ redirectUris }: Pick<BridgedClient, "redirectUris">, uri: string): boolean {
  return redirectUris.includes(uri) || redirectUris.some((known) => withoutPort(known) !== null && withoutPort(known) === withoutPort(uri));
}

function withoutPort(uri: string): string | null {
  if (!/^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:\/|\?|$)/.test(uri) || !URL.canParse(uri) || !isLoopback(uri))
    return null;
  return uri.replace(/^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d{1,5}/, "$1");
}
