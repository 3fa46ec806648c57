import { textLines } from "../../wire/batch/text-lines.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { resultsWithExactCalls } from "../../wire/json/exact-tools.ts";

const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** The objects of a JSON lines body. Lines that are too long or not an object are skipped. */
export async function* resultObjects({ body }: Response): AsyncGenerator<JsonObject> {
  if (body === null) return;
  for await (const { text } of textLines(body as unknown as AsyncIterable<Uint8Array>, MAX_LINE_BYTES, true)) {
    const line = objectIn(text);
    if (line !== null) yield line;
  }
}

function objectIn(text: Uint8Array): JsonObject | null {
  try {
    const value = resultsWithExactCalls(new TextDecoder().decode(text));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
