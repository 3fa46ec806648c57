import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { edited, memberText } from "./rpc.ts";

/** Requests of several senders share one session, in which progress tokens must be unique. */

/** The params with a new progress token, and the JSON text of the original token; null if no progress is requested. */
export function withProgressToken(
  params: string | null,
  parsed: JsonValue | undefined,
  token: number,
): { readonly params: string; readonly own: string } | null {
  const meta = isObject(parsed) && isObject(parsed._meta) ? memberText(params ?? "{}", "_meta") : null;
  const own = meta === null ? null : memberText(meta, "progressToken");
  if (params === null || meta === null || own === null) return null;
  return { own, params: edited(params, { _meta: edited(meta, { progressToken: String(token) }) }) };
}

/** The token of a progress notification; undefined for any other message. */
export function progressTokenOf({ method, params }: JsonObject): JsonValue | undefined {
  return method === "notifications/progress" && isObject(params) ? params.progressToken : undefined;
}

/** A progress notification with the sender's original token. */
export function underOwnToken(message: string, own: string): string {
  return edited(message, { params: edited(memberText(message, "params") ?? "{}", { progressToken: own }) });
}
