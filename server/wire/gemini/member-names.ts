import type { JsonObject } from "../../kernel/json-value.ts";

/**
 * Google's REST API accepts every name in camelCase and in snake_case, and a single object in place of a list. All reading
 * of its bodies goes through these functions, which take camelCase names. A member that is null counts as absent.
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

/** The spelling used by the object for a member; camelCase if it has neither. */
export function spellingIn(object: JsonObject, name: string): string {
  if ((object[name] ?? null) !== null) return name;
  const snake = snakeName(name);
  return (object[snake] ?? null) === null ? name : snake;
}
