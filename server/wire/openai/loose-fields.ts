import { isObject, type JsonObject } from "../../kernel/json-value.ts";

/** Lenient reading of vendor JSON: a field of the wrong type counts as absent. */

export function stringOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A non-empty string. */
export function filledOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A non-negative integer. */
export function wholeOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

export function booleanOf(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

export function objectOf(value: unknown): JsonObject | null {
  return isObject(value) ? value : null;
}

export function looseListOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const NONE: readonly [JsonObject, number][] = [];

/** The objects of a list, each with its index. */
export function objectsOf(value: unknown): readonly [JsonObject, number][] {
  if (!Array.isArray(value)) return NONE;
  const objects: [JsonObject, number][] = [];
  for (let at = 0; at < value.length; at++) if (isObject(value[at])) objects.push([value[at] as JsonObject, at]);
  return objects;
}

/** A string, or any other JSON value serialized; null if undefined or null. */
export function textOrJson(value: unknown): string | null {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? null : JSON.stringify(value);
}
