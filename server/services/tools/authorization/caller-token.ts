import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { looksLikeApiKey } from "../../../kernel/secrets.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { covers } from "../../../wire/oauth/metadata.ts";
import type { Call } from "../../../road/call.ts";
import { requestCredential } from "../../../road/admission/request-credential.ts";
import { looksLikeAccessToken } from "../../../road/admission/gateway-tokens.ts";
import { toolsOf } from "../../../road/target.ts";

/**
 * The caller's own token for a tool server, sent beside a gateway key (interface 5.1); null if there is none. The gateway's own keys and
 * tokens never count, nor do tokens for another audience. Of a virtual server, only members named in the token's audience get it: the
 * caller does not say which member it is for, and other members must not see it.
 */
export function callerToken(server: Pick<ToolServerEntry, "url">, call: Pick<Call, "headers" | "url" | "target">): string | null {
  const { headers, url } = call;
  const header = headers.get("authorization");
  if (header === null || !/^bearer \S+$/i.test(header)) return null;
  const token = header.slice(7);
  const credential = requestCredential(headers, url);
  // The credential for the gateway must not be passed on.
  if (looksLikeApiKey(token) || looksLikeAccessToken(token) || ("text" in credential && credential.text === token)) return null;
  const claims = claimsOf(token);
  if (isPortalToken(claims)) return null;
  const audiences = addressesIn(claims);
  const isMeant = audiences.length === 0 ? toolsOf(call)?.virtual == null : audiences.some((audience) => covers(audience, server.url));
  return isMeant ? token : null;
}

/** Whether it is a portal token sent beside another credential. */
function isPortalToken(claims: JsonObject | null): boolean {
  return claims?.user_type === "end_user";
}

/** The URLs in a JWT's audience; empty for anything that is not a readable JWT. */
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
