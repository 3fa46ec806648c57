import { isObject, type JsonValue } from "../../kernel/json-value.ts";

/** Whether the bytes are an answer to POST /moderations. */
export function isModerationsReply(bytes: Uint8Array): boolean {
  try {
    const body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as JsonValue;
    return isObject(body) && Array.isArray(body.results);
  } catch {
    return false;
  }
}
