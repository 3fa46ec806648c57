import { exactlyWritten, exactMembers, exactValue, exactWriter } from "../../kernel/text/exact-numbers.ts";
import type { JsonObject } from "../../kernel/json-value.ts";

const decoder = new TextDecoder();

/**
 * What tools are called with and what they answer, in the formats that say it as objects: an id of 64 bits must stay the one the model
 * gave.
 */
const NAMES: ReadonlySet<string> = new Set(["input", "args", "response"]);
const HAS_ONE = /"(?:input|args|response)"\s*:/;
/** Some servers give as a value what is a text in the other formats. */
const AS_VALUE = /"(?:arguments|action|operation)"\s*:\s*[^"\s]/;

/** What `body` was read from; undefined where it was made here. */
export interface JsonSource {
  readonly body: unknown;
  readonly json?: string | undefined;
}

/** A whole answer: its text is decoded for who asks. */
export const wholeSource = (body: unknown, bytes?: Uint8Array): JsonSource => ({
  body,
  get json() {
    return bytes && decoder.decode(bytes);
  },
});

/** JSON of values within the body of `source`, with every digit: what is looked at must be what goes on. */
export function exactArguments(source: JsonSource): (value: unknown) => string {
  let write: ((value: unknown) => string) | null = null;
  return (value) => (write ??= exactWriter(source.body, source.json ?? ""))(value);
}

/** What was read from `json`, with every digit of what tools are told and say. */
export function withExactTools<T>(value: T, json: string): T {
  return HAS_ONE.test(json) ? exactMembers(value, json, NAMES) : value;
}

const CALL_NAMES: ReadonlySet<string> = new Set(["input", "args"]);
const HAS_CALL = /"(?:input|args)"\s*:/;

/**
 * What a text of a batch's results says, with every digit of what tools are called with. `response` is a word of the envelope there, and
 * numbers of the vectors behind it would take long to keep. Throws where the text is no JSON.
 */
export function resultsWithExactCalls(json: string): unknown {
  const value: unknown = JSON.parse(json);
  return HAS_CALL.test(json) ? exactMembers(value, json, CALL_NAMES) : value;
}

/** JSON of an object that was read from `json` and may have been changed since, with every digit of what tools are told and say. */
export function writtenWithExactTools(value: unknown, json: string): string {
  return (HAS_ONE.test(json) || AS_VALUE.test(json)) && exactObject(json) !== null ? exactlyWritten(value, json) : JSON.stringify(value);
}

/** The object a JSON text holds, with every digit, to be written as JSON again; null when it holds none. */
export function exactObject(json: string): JsonObject | null {
  if (!json.trimStart().startsWith("{")) return null;
  try {
    return exactValue(json) as JsonObject;
  } catch {
    return null;
  }
}
