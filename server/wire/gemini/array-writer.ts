import type { ReplyContext, StreamWriter } from "../conversation/codec.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { GeminiStreamWriter } from "./stream-writer.ts";

/**
 * For a streaming caller who did not ask for events (`alt=sse`): one JSON array, sent in pieces. The array of an answer
 * that failed stays open, because the gateway's own error comes behind it as the last element.
 */
export function geminiArrayWriter(context: ReplyContext): StreamWriter {
  let before = "[";
  const frame = (body: JsonObject) => {
    const text = before + JSON.stringify(body);
    before = ",\r\n";
    return text;
  };
  return new GeminiStreamWriter(context, { frame, close: () => "]" });
}
