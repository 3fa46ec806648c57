import { createHash } from "node:crypto";
import { parsedExactly } from "../../kernel/text/exact-numbers.ts";
import { isObject } from "../../kernel/json-value.ts";
import { edited } from "./rpc.ts";

/** A number kept as its source text, because parsing would change its value. */
class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * SHA-256 (hex) of the value in a JSON text: equal for all spellings of the same value, and different for different
 * values. Numbers are compared as written, because a tool server may read more digits than JavaScript does.
 */
export function exactDigest(json: string): string {
  return createHash("sha256")
    .update(canonical(parsedExactly(json, (_source, written) => new WrittenNumber(written))))
    .digest("hex");
}

/**
 * As `exactDigest`, of a request's `params` (JSON text; null for none) without the metadata about the sender and without
 * members that only a retry of the same request adds.
 */
export function requestDigest(params: string | null): string {
  return exactDigest(edited(params ?? "{}", { _meta: null, inputResponses: null, requestState: null }));
}

/** JSON with sorted member names. */
function canonical(value: unknown): string {
  if (value instanceof WrittenNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(",")}}`;
}
