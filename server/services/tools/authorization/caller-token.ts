import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { looksLikeApiKey } from "../../../kernel/secrets.ts";
import { isObject, type JsonObject } from "../../../wire/document.ts";
import { covers } from "../../../wire/oauth/metadata.ts";
import type { Call } from "../../../road/call.ts";
import { requestCredential } from "../../../road/admission/request-credential.ts";
import { looksLikeAccessToken } from "../../../road/admission/gateway-tokens.ts";

/**
 * The caller's own token for a tool server, sent beside a key of the gateway (interface 5.1); null when it sent none.
 * A key or a token of the gateway's own is never that, and neither is a token that says it is for somebody else.
 */
export function callerToken(server: Pick<ToolServerEntry, "url">, { headers, url }: Pick<Call, "headers" | "url">): string | null {
  const header = headers.get("authorization");
  if (header === null || !/^bearer \S+$/i.test(header)) return null;
  const token = header.slice(7);
  const credential = requestCredential(headers, url);
  // What lets the caller in here is for this gateway alone.
  if (looksLikeApiKey(token) || looksLikeAccessToken(token) || ("text" in credential && credential.text === token)) return null;
  return isPortalToken(token) || isMeantForAnother(token, server.url) ? null : token;
}

/** One of the portal's that came along beside another credential. */
function isPortalToken(token: string): boolean {
  return claimsOf(token)?.user_type === "end_user";
}

/** True for a JWT whose audience holds addresses and none of them is the server's. What cannot be read says nothing. */
function isMeantForAnother(token: string, serverUrl: string): boolean {
  const claims = claimsOf(token);
  if (claims === null) return false;
  const audiences = (Array.isArray(claims.aud) ? claims.aud : [claims.aud]).filter(
    (audience): audience is string => typeof audience === "string" && /^https?:\/\//.test(audience),
  );
  return audiences.length > 0 && !audiences.some((audience) => covers(audience, serverUrl));
}

function claimsOf(token: string): JsonObject | null {
  const [, payload, signature] = token.split(".");
  if (payload === undefined || signature === undefined) return null;
  try {
    const claims: unknown = JSON.parse(new TextDecoder().decode(Buffer.from(payload, "base64url")));
    return isObject(claims) ? claims : null;
  } catch {
    return null;
  }
}
