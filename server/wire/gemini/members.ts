import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { snakeName } from "./member-names.ts";

export function member(object: JsonObject, name: string): JsonValue | undefined {
  const value = object[name] ?? object[snakeName(name)];
  return value === null ? undefined : value;
}

export function objectIn(object: JsonObject, name: string): JsonObject | null {
  const value = member(object, name);
  return isObject(value) ? value : null;
}

export function textIn(object: JsonObject, name: string): string | null {
  const value = member(object, name);
  return typeof value === "string" ? value : null;
}

export function numberIn(object: JsonObject, name: string): number | null {
  const value = member(object, name);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function booleanIn(object: JsonObject, name: string): boolean | null {
  const value = member(object, name);
  return typeof value === "boolean" ? value : null;
}

/** The items of a list; a single value counts as a list of one. */
export function listIn(object: JsonObject, name: string): readonly JsonValue[] {
  const value = member(object, name);
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** The objects in a list, in order; other items are skipped. */
export function objectsIn(object: JsonObject, name: string): readonly JsonObject[] {
  return listIn(object, name).filter(isObject);
}

export function textsIn(object: JsonObject, name: string): readonly string[] {
  return listIn(object, name).filter((value) => typeof value === "string");
}
