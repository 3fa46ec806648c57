import type { Refusal } from "../../../kernel/errors.ts";
import { writeChallenge } from "../../../wire/oauth/challenge.ts";
import type { Call } from "../../../road/call.ts";
import { type AuthorizationParts, baseUrl } from "./authorization-parts.ts";
import { metadataUrl } from "./protected-servers.ts";

const SERVER = /^\/v1\/proxy\/mcp\/(mcp-[0-9A-Z]{26})(?:\/|$)/;

/** Adds the challenge that tells a client without a valid credential where to get one. */
export function withChallenge(refusal: Refusal, call: Call, parts: Pick<AuthorizationParts, "publicUrl">): Refusal {
  const serverId = refusal.code === "unauthenticated" ? SERVER.exec(call.path)?.[1] : undefined;
  if (serverId === undefined) return refusal;
  const challenge = writeChallenge({ error: null, scope: null, resourceMetadata: metadataUrl(baseUrl(parts, call), serverId) });
  return { ...refusal, headers: { ...refusal.headers, "www-authenticate": challenge } };
}
