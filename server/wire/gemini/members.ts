import { isObject, type JsonObject, type JsonValue } from "../document.ts";

/**
 * Google's REST layer takes every name in camelCase and in snake_case, and a single object where a list of one is meant.
 * All reading of its bodies goes through here; names are given in camelCase. A member that is null counts as absent.
 */

const snakes = new Map<string, string>();

export function snakeName(name: string): string {
  let snake = snakes.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakes.set(name, snake);
  }
  return snake;
}

export function camelName(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The spelling the object itself uses for a member; camelCase when it has none. */
export function spellingIn(object: JsonObject, name: string): string {
  if ((object[name] ?? null) !== null) return name;
  const snake = snakeName(name);
  return (object[snake] ?? null) === null ? name : snake;
}

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

/** The members of a list as they are, each with its place; a value that is no list is a list of one. */
export function listIn(object: JsonObject, name: string): readonly JsonValue[] {
  const value = member(object, name);
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** The objects of a list, in order; anything else in it is passed over. */
export function objectsIn(object: JsonObject, name: string): readonly JsonObject[] {
  return listIn(object, name).filter(isObject);
}

export function textsIn(object: JsonObject, name: string): readonly string[] {
  return listIn(object, name).filter((value) => typeof value === "string");
}
