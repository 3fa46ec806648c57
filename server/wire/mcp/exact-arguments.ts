import { createHash } from "node:crypto";
import { isObject } from "../document.ts";
import { edited } from "./rpc.ts";

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/;

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
  return createHash("sha256").update(canonical(JSON.parse(json, exactly as Parameters<typeof JSON.parse>[1]))).digest("hex");
}

/**
 * As `exactDigest`, of what a request asks: `params` (JSON text, null of none) without what says who asks and without
 * what only a retry of the same request adds.
 */
export function requestDigest(params: string | null): string {
  return exactDigest(edited(params ?? "{}", { _meta: null, inputResponses: null, requestState: null }));
}

function exactly(_name: string, value: unknown, { source = "" }: { readonly source?: string } = {}): unknown {
  if (typeof value !== "number") return value;
  const written = normal(source);
  return written === normal(String(value)) ? value : new WrittenNumber(written);
}

/** One text for all spellings of a decimal. An exponent nobody counts with stays as it is spelled. */
function normal(source: string): string {
  const match = NUMBER.exec(source);
  if (match === null) return source;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  return kept === "" ? `${sign}0` : `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
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
