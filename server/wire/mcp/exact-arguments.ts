import { createHash } from "node:crypto";
import { parsedExactly } from "../../kernel/text/exact-numbers.ts";
import { isObject } from "../../kernel/json-value.ts";
import { edited } from "./rpc.ts";

/** A number as its text says it, where the number this process would take it for is another. */
class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * SHA-256, hex, of what the JSON text says: the same for every spelling of a value, and another for every other value.
 * Numbers count as they are written: a tool server may read more digits of them than this process does.
 */
export function exactDigest(json: string): string {
  return createHash("sha256")
    .update(canonical(parsedExactly(json, (_source, written) => new WrittenNumber(written))))
    .digest("hex");
}

/**
 * As `exactDigest`, of what a request asks: `params` (JSON text, null of none) without what says who asks and without
 * what only a retry of the same request adds.
 */
export function requestDigest(params: string | null): string {
  return exactDigest(edited(params ?? "{}", { _meta: null, inputResponses: null, requestState: null }));
}

/** With the names of every object sorted. */
function canonical(value: unknown): string {
  if (value instanceof WrittenNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(",")}}`;
}
