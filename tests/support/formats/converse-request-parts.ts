import { DEFAULT_REQUEST } from "../../../server/wire/conversation/default-request.ts";
import type { ConversationRequest, Tool, Turn } from "../../../server/wire/conversation/request.ts";
import { converseCodec } from "../../../server/wire/converse/converse-codec.ts";

export const CLAUDE = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
export const LLAMA = "meta.llama3-3-70b-instruct-v1:0";

export function request(given: Partial<ConversationRequest> = {}): ConversationRequest {
  return { ...DEFAULT_REQUEST, turns: [{ role: "user", parts: [{ kind: "text", text: "Hello" }] }], ...given };
}

export function write(given: Partial<ConversationRequest>, model = CLAUDE, maxOutputTokens: number | null = null) {
  const written = converseCodec.writeRequest(request(given), { name: model, maxOutputTokens });
  if ("unsupported" in written) throw new Error(JSON.stringify(written.unsupported));
  return written;
}

export function refused(given: Partial<ConversationRequest>, model = CLAUDE) {
  const written = converseCodec.writeRequest(request(given), { name: model, maxOutputTokens: null });
  return "unsupported" in written ? written.unsupported.map(({ feature }) => feature) : [];
}

export const text = (value: string) => ({ kind: "text", text: value }) as const;
export const call = (id: string, name = "f", args = "{}") => ({ kind: "tool_call", id, name, arguments: args }) as const;
export const result = (callId: string, value = "ok") =>
  ({ kind: "tool_result", callId, toolName: null, content: [text(value)], isError: false }) as const;
export const tool = (name: string): Tool => ({ name, description: null, schema: null, strict: null });
export const looped: Turn[] = [
  { role: "user", parts: [text("go")] },
  { role: "assistant", parts: [call("c1")] },
  { role: "user", parts: [result("c1")] },
];
