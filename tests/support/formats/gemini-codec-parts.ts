import { DEFAULT_REQUEST } from "../../../server/wire/conversation/default-request.ts";
import type { ConversationRequest, Turn } from "../../../server/wire/conversation/request.ts";
import type { JsonObject } from "../../../server/kernel/json-value.ts";
import { geminiCodec } from "../../../server/wire/gemini/gemini-codec.ts";

export const TARGET = { name: "gemini-3-flash", maxOutputTokens: null };

export const BARE: ConversationRequest = { ...DEFAULT_REQUEST, turns: [{ role: "user", parts: [{ kind: "text", text: "Hi" }] }] };

export const user = (text: string): Turn => ({ role: "user", parts: [{ kind: "text", text }] });

export function read(body: JsonObject): ConversationRequest {
  const result = geminiCodec.readRequest(body);
  if ("unsupported" in result) throw new Error(JSON.stringify(result.unsupported));
  return result.request;
}

export function written(request: Partial<ConversationRequest>, name = TARGET.name) {
  const result = geminiCodec.writeRequest({ ...BARE, ...request }, { name, maxOutputTokens: null });
  if ("unsupported" in result) throw new Error(JSON.stringify(result.unsupported));
  return result;
}

export function contents(turns: readonly Turn[], name?: string): any {
  return written({ turns }, name).body.contents;
}
