import { hash } from "node:crypto";
import { isHash } from "./canonical.ts";
import type { HashFormat } from "./hash-formats.ts";

/**
 * Regular expression sources for values whose stored text equals their RFC 8785 JSON. Rows with only such values are hashed without
 * parsing; all others take the slow path.
 */

/** Printable ASCII without quote and backslash, between quotes. */
export const PLAIN_TEXT = '"[ !#-\\[\\]-~]*"';

export const PLAIN_VALUES = {
  text: PLAIN_TEXT,
  timestamp: '"\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z"',
  integer: "0|-?[1-9]\\d{0,14}",
  boolean: "true|false",
} as const;

const FORMAT: HashFormat = "v2";
const BEGINNING = `["${FORMAT}",`;
const CLOSE_BRACKET = 0x5d;

let scratch = Buffer.from(BEGINNING.padEnd(16 * 1024), "latin1");

/**
 * Whether a row with these values has `rowHash`. `values`: the values of the newest format in canonical order, comma-separated, all plain
 * or null.
 */
export function givesHash(values: string, prevHash: string, rowHash: string): boolean {
  if (!isHash(prevHash)) return false;
  if (scratch.length < values.length + 64) scratch = Buffer.from(BEGINNING.padEnd(2 * values.length + 64), "latin1");
  let end = BEGINNING.length + scratch.write(values, BEGINNING.length, "latin1");
  scratch[end++] = CLOSE_BRACKET;
  end += scratch.write(prevHash, end, "hex");
  return hash("sha256", scratch.subarray(0, end), "hex") === rowHash;
}
