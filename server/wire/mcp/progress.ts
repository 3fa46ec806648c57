import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { edited, memberText } from "./rpc.ts";

/** Requests of several senders go out in one session, where no two may have the same progress token. */

/** The params with another progress token, and the text of their own; null when they ask for no progress. */
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

/** Of a message that tells of progress; undefined of any other. */
export function progressTokenOf({ method, params }: JsonObject): JsonValue | undefined {
  return method === "notifications/progress" && isObject(params) ? params.progressToken : undefined;
}

/** A message of progress as the sender of the request knows it. */
export function underOwnToken(message: string, own: string): string {
  return edited(message, { params: edited(memberText(message, "params") ?? "{}", { progressToken: own }) });
}
