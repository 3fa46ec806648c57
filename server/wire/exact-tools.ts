import { exactlyWritten, exactMembers, exactValue } from "../kernel/exact-numbers.ts";
import type { JsonObject } from "./document.ts";

/**
 * What tools are called with and what they answer, in the formats that say it as objects: an id of 64 bits must stay the one the model
 * gave.
 */
const NAMES: ReadonlySet<string> = new Set(["input", "args", "response"]);
const HAS_ONE = /"(?:input|args|response)"\s*:/;

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
  return HAS_ONE.test(json) && exactObject(json) !== null ? exactlyWritten(value, json) : JSON.stringify(value);
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
