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
