import type { ReplyContext, StreamWriter } from "../conversation/codec.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { GeminiStreamWriter } from "./stream-writer.ts";

/**
 * Streams an answer as one JSON array, for callers that did not request events (`alt=sse`). The array of a failed answer
 * stays open, because the gateway's error is added as its last element.
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
