import { type Filter, parse } from "scim2-parse-filter";
import { ScimError } from "./scim-error.ts";

export type ScimFilter = Filter;

const MAX_CHARACTERS = 2_048;
const MAX_DEPTH = 20;
/** Limited because every condition becomes part of a database query. */
const MAX_CONDITIONS = 50;

/** Parses a filter whose size and nesting are limited before the recursive parser runs. Throws `invalidFilter`. */
export function parseFilter(text: string): ScimFilter {
  if (text.length > MAX_CHARACTERS) throw invalidFilter(`is longer than ${MAX_CHARACTERS} characters`);
  if (text.includes("\0") || !text.isWellFormed()) throw invalidFilter("has characters that cannot be looked for");
  if (depthOf(text) > MAX_DEPTH) throw invalidFilter(`is nested more than ${MAX_DEPTH} deep`);
  let filter: ScimFilter;
  try {
    filter = parse(text);
  } catch {
    throw invalidFilter("cannot be read");
  }
  if (conditionsOf(filter) > MAX_CONDITIONS) throw invalidFilter(`has more than ${MAX_CONDITIONS} conditions`);
  return filter;
}

export const invalidFilter = (message: string) => new ScimError(400, `The filter ${message}.`, "invalidFilter");

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const letter of text) {
    if (letter === "(" || letter === "[") deepest = Math.max(deepest, ++depth);
    else if (letter === ")" || letter === "]") depth--;
  }
  // Consecutive `not` operators nest without brackets.
  return Math.max(deepest, (text.match(/\bnot\b/gi) ?? []).length);
}

function conditionsOf(filter: ScimFilter): number {
  if (filter.op === "and" || filter.op === "or") return filter.filters.reduce((sum, one) => sum + conditionsOf(one), 0);
  if (filter.op === "not") return conditionsOf(filter.filter);
  return filter.op === "[]" ? conditionsOf(filter.valFilter) : 1;
}
