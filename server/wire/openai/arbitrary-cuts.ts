import fc from "fast-check";
import { type JsonObject, isObject } from "../../kernel/json-value.ts";

/** Cuts bytes into pieces of the given sizes, used cyclically. */
export function cut(whole: string, sizes: readonly number[]): Uint8Array[] {
  const bytes = new TextEncoder().encode(whole);
  const pieces: Uint8Array[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] as number;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

export const cuts: fc.Arbitrary<number[]> = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 6 });

/** A body with some values replaced by junk; it stays an object, as readers may assume. */
export function mutated(body: JsonObject, dice: { next(): { value: number } }, junk: unknown): JsonObject {
  const change = (value: unknown): unknown => {
    if (dice.next().value % 12 === 0) return junk;
    if (Array.isArray(value)) return value.map(change);
    return isObject(value) ? mutated(value, dice, junk) : value;
  };
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, change(value)])) as JsonObject;
}
