import { exactlyWritten, exactMembers, exactValue, exactWriter } from "../../kernel/text/exact-numbers.ts";
import type { JsonObject } from "../../kernel/json-value.ts";

const decoder = new TextDecoder();

/** Members that hold tool arguments and results as objects in some formats. A 64-bit ID in them must keep all its digits. */
const NAMES: ReadonlySet<string> = new Set(["input", "args", "response"]);
const HAS_ONE = /"(?:input|args|response)"\s*:/;
/** Some servers send a value where the other formats have a string. */
const AS_VALUE = /"(?:arguments|action|operation)"\s*:\s*[^"\s]/;

/** The source text of `body`; undefined if the gateway built it. */
export interface JsonSource {
  readonly body: unknown;
  readonly json?: string | undefined;
}

/** A whole answer, whose text is decoded on demand. */
export const wholeSource = (body: unknown, bytes?: Uint8Array): JsonSource => ({
  body,
  get json() {
    return bytes && decoder.decode(bytes);
  },
});

/** Serializes values within the body of `source` with all digits, so that what is inspected is what is sent on. */
export function exactArguments(source: JsonSource): (value: unknown) => string {
  let write: ((value: unknown) => string) | null = null;
  return (value) => (write ??= exactWriter(source.body, source.json ?? ""))(value);
}

/** A value parsed from `json`, in which tool arguments and results keep all digits. */
export function withExactTools<T>(value: T, json: string): T {
  return HAS_ONE.test(json) ? exactMembers(value, json, NAMES) : value;
}

const CALL_NAMES: ReadonlySet<string> = new Set(["input", "args"]);
const HAS_CALL = /"(?:input|args)"\s*:/;

/**
 * Parses a text of batch results, keeping all digits of tool arguments. `response` is skipped: there it is an envelope
 * member, which may contain large embeddings. Throws if the text is not JSON.
 */
export function resultsWithExactCalls(json: string): unknown {
  const value: unknown = JSON.parse(json);
  return HAS_CALL.test(json) ? exactMembers(value, json, CALL_NAMES) : value;
}

/** Serializes an object read from `json`, and possibly changed since, with all digits of tool arguments and results. */
export function writtenWithExactTools(value: unknown, json: string): string {
  return (HAS_ONE.test(json) || AS_VALUE.test(json)) && exactObject(json) !== null ? exactlyWritten(value, json) : JSON.stringify(value);
}

/** The object in a JSON text, keeping all digits when serialized again; null if the text is not a JSON object. */
export function exactObject(json: string): JsonObject | null {
  if (!json.trimStart().startsWith("{")) return null;
  try {
    return exactValue(json) as JsonObject;
  } catch {
    return null;
  }
}
