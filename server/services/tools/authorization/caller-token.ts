import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { looksLikeApiKey } from "../../../kernel/secrets.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { covers } from "../../../wire/oauth/metadata.ts";
import type { Call } from "../../../road/call.ts";
import { requestCredential } from "../../../road/admission/request-credential.ts";
import { looksLikeAccessToken } from "../../../road/admission/gateway-tokens.ts";
import { toolsOf } from "../../../road/target.ts";

/**
 * The caller's own token for a tool server, sent beside a key of the gateway (interface 5.1); null when it sent none.
 * A key or a token of the gateway's own is never that, and neither is a token that says it is for somebody else. Of a
 * virtual server only the members are shown it that it names: the caller does not say which of them it is for, and the
 * others would be handed an account that is none of theirs.
 */
export function callerToken(server: Pick<ToolServerEntry, "url">, call: Pick<Call, "headers" | "url" | "target">): string | null {
  const { headers, url } = call;
  const header = headers.get("authorization");
  if (header === null || !/^bearer \S+$/i.test(header)) return null;
  const token = header.slice(7);
  const credential = requestCredential(headers, url);
  // What lets the caller in here is for this gateway alone.
  if (looksLikeApiKey(token) || looksLikeAccessToken(token) || ("text" in credential && credential.text === token)) return null;
  const claims = claimsOf(token);
  if (isPortalToken(claims)) return null;
  const audiences = addressesIn(claims);
  const isMeant = audiences.length === 0 ? toolsOf(call)?.virtual == null : audiences.some((audience) => covers(audience, server.url));
  return isMeant ? token : null;
}

/** One of the portal's that came along beside another credential. */
function isPortalToken(claims: JsonObject | null): boolean {
  return claims?.user_type === "end_user";
}

/** The addresses among a JWT's audience. What cannot be read says nothing. */
function addressesIn(claims: JsonObject | null): string[] {
  const audiences = Array.isArray(claims?.aud) ? claims.aud : [claims?.aud];
  return audiences.filter((audience): audience is string => typeof audience === "string" && /^https?:\/\//.test(audience));
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
