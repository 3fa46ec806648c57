import { findOAuthServer } from "../../../directory/tools/oauth-servers.ts";
import { isRefusal, type Refusal } from "../../../kernel/errors.ts";
import { writeChallenge } from "../../../wire/oauth/challenge.ts";
import type { Call } from "../../../road/call.ts";
import { cachedLookup } from "./authorization-cache.ts";
import { type AuthorizationParts, baseUrl } from "./authorization-parts.ts";
import { metadataUrl } from "./protected-servers.ts";

const SERVER = /^\/v1\/proxy\/mcp\/(mcp-[0-9A-Z]{26})(?:\/|$)/;
const CACHE_MS = 5_000;

type Parts = Pick<AuthorizationParts, "publicUrl" | "db" | "memory" | "clock">;

/**
 * Adds the `WWW-Authenticate` challenge for a client without a valid credential. It names the resource metadata only for servers that use
 * OAuth: other servers take a key and have no such document.
 */
export async function withChallenge(refusal: Refusal, call: Call, parts: Parts): Promise<Refusal> {
  const serverId = refusal.code === "unauthenticated" ? SERVER.exec(call.path)?.[1] : undefined;
  if (serverId === undefined) return refusal;
  const resourceMetadata = (await isOAuthServer(parts, serverId)) ? metadataUrl(baseUrl(parts, call), serverId) : null;
  const challenge = writeChallenge({ error: null, scope: null, resourceMetadata });
  return { ...refusal, headers: { ...refusal.headers, "www-authenticate": challenge } };
}

async function isOAuthServer(parts: Parts, id: string): Promise<boolean> {
  const find = async () => ({ is: (await findOAuthServer(parts, id)) !== null });
  // If the database is unavailable, the challenge is sent without the metadata URL.
  const found = await cachedLookup(parts.memory.oauthServers, id, parts.clock, CACHE_MS, find).catch(() => ({ is: false }));
  return !isRefusal(found) && found.is;
}
