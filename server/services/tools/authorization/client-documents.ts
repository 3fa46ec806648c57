import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { networkOf } from "../../../kernel/http/ip-address.ts";
import { requestJson, mayUseUrl } from "./request-json.ts";
import { cachedLookup, lookupThroughCache } from "./authorization-cache.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import { isLoopback } from "./upstream-clients.ts";
import type { DocumentClient } from "./authorization-cache.ts";

/** Clients that are identified by the URL of a metadata document. */

type Parts = Pick<AuthorizationParts, "send" | "memory" | "clock" | "allowPrivate">;

const CACHE_MS = 300_000;
const MAX_BYTES = 16 * 1024;

/** Whether a client ID is the URL of a metadata document. */
export function isDocumentAddress(clientId: string, allowPrivate: boolean): boolean {
  if (!/^https?:\/\//.test(clientId) || clientId.length > 2_000 || !mayUseUrl(allowPrivate)(clientId)) return false;
  const url = new URL(clientId);
  // The URL is the client's identity, so it must be in its normalized form.
  return url.pathname !== "/" && url.href === clientId && (url.protocol === "https:" || isLoopback(clientId));
}

/** Fetches a client's metadata document. Anybody may name one, so fetches are tightly limited. `ip`: the requesting address. */
export async function documentClient(parts: Parts, clientId: string, ip: string): Promise<DocumentClient | Refusal> {
  const { memory, clock } = parts;
  const kept = lookupThroughCache(memory.documents, clientId, clock);
  if (kept !== null) return kept;
  // Outside the shared lookup: a caller over the limit is refused alone, not together with all who wait for the same client.
  const leave = await memory.fetching(networkOf(ip), new URL(clientId).host);
  if (leave === null) return unusable("too many documents are being fetched");
  return cachedLookup(memory.documents, clientId, clock, CACHE_MS, async () => {
    const answer = await requestJson(parts.send, { url: clientId, maxBytes: MAX_BYTES });
    if (isRefusal(answer)) return unusable(answer.reason ?? answer.message);
    const { body, status } = answer;
    if (status !== 200 || body === null) return unusable(`it was answered ${status}`);
    if (body.client_id !== clientId) return unusable("it names another client_id");
    if (body.client_secret !== undefined || (body.token_endpoint_auth_method !== undefined && body.token_endpoint_auth_method !== "none"))
      return unusable("only clients without a secret are served");
    const redirectUris = usableRedirects(body.redirect_uris);
    if (redirectUris === null) return unusable("its redirect_uris cannot be used");
    return { clientName: nameOf(body.client_name), redirectUris };
  }).finally(leave);
}

function unusable(why: string): Refusal {
  return refuse("oauth_invalid_client", "The client's metadata document cannot be used.", { reason: why });
}

/** The redirect URIs if all are allowed (https, loopback, or an app's own scheme), else null. */
export function usableRedirects(value: unknown): string[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > 20) return null;
  return value.every((uri) => typeof uri === "string" && isUsableRedirect(uri)) ? (value as string[]) : null;
}

const DANGEROUS = new Set([
  "javascript:",
  "data:",
  "vbscript:",
  "file:",
  "blob:",
  "about:",
  "view-source:",
  "filesystem:",
  "ws:",
  "wss:",
  "ftp:",
]);

function isUsableRedirect(uri: string): boolean {
  if (uri.length > 1_000 || uri.includes("#") || /[\s\\<>"\p{C}]/u.test(uri) || !URL.canParse(uri)) return false;
  const { protocol, username, password } = new URL(uri);
  if (username !== "" || password !== "") return false;
  if (protocol === "https:") return true;
  if (protocol === "http:") return isLoopback(uri);
  return !DANGEROUS.has(protocol) && /^[a-z][a-z0-9+.-]*:$/.test(protocol);
}

/** A client's name, made safe for display. */
export function nameOf(value: unknown): string {
  const name =
    typeof value === "string"
      ? value
          .replaceAll(/[\p{C}\u2028\u2029]/gu, "")
          .trim()
          .slice(0, 80)
      : "";
  return name === "" ? "An application" : name;
}
