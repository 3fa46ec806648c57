import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import type { Call } from "../../../road/call.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { Broker } from "./broker.ts";
import { documentClient, isDocumentAddress, nameOf, usableRedirects } from "./client-documents.ts";
import { openEnvelope } from "../../../road/admission/envelope.ts";
import { REGISTERED_PREFIX } from "./register-bridged.ts";
import { isLoopback } from "./upstream-clients.ts";

/** A bridged client of the broker: its codes and tokens are issued by the gateway. */
export interface BridgedClient {
  readonly hash: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/** Null if the ID is neither registered with this broker nor a metadata document: the issuer itself may know the client. */
export async function bridgedClient(
  parts: Pick<AuthorizationParts, "secrets" | "clock" | "send" | "memory" | "allowPrivate">,
  { owner }: Pick<Broker, "owner">,
  { ip }: Pick<Call, "ip">,
  clientId: string,
): Promise<BridgedClient | Refusal | null> {
  const hash = sha256Hex(clientId);
  if (clientId.startsWith(REGISTERED_PREFIX)) {
    const value = openEnvelope(parts.secrets, "client", owner, clientId.slice(REGISTERED_PREFIX.length), parts.clock.now());
    const redirectUris = usableRedirects(value?.redirectUris);
    return value === null || redirectUris === null ? refuse("oauth_invalid_client") : { hash, name: nameOf(value.name), redirectUris };
  }
  if (!/^https?:/i.test(clientId)) return null;
  if (!isDocumentAddress(clientId, parts.allowPrivate))
    return refuse("oauth_invalid_client", undefined, { reason: "client_id is no address of a document" });
  const document = await documentClient(parts, clientId, ip);
  return isRefusal(document) ? document : { hash, name: document.clientName, redirectUris: document.redirectUris };
}

/** Compared as exact strings; the port of a loopback address may differ (RFC 8252, 7.3). */
export function mayRedirect({ redirectUris }: Pick<BridgedClient, "redirectUris">, uri: string): boolean {
  return redirectUris.includes(uri) || redirectUris.some((known) => withoutPort(known) !== null && withoutPort(known) === withoutPort(uri));
}

function withoutPort(uri: string): string | null {
  if (!/^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:\/|\?|$)/.test(uri) || !URL.canParse(uri) || !isLoopback(uri))
    return null;
  return uri.replace(/^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d{1,5}/, "$1");
}
