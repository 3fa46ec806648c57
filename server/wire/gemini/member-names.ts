import type { JsonObject } from "../../kernel/json-value.ts";

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
