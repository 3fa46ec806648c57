import { type FieldError, invalidFields, refuse, Refused } from "../../kernel/errors.ts";
import { isObject } from "../../kernel/json-value.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import { ambiguityOf, type AmbiguousName, ambiguousName, ambiguousNameIn } from "./ambiguous-name.ts";

const MAX_DEPTH = 64;

/** Parses a JSON object. Throws a refusal for anything else, for ambiguous names, and for text that the database cannot store. */
export function jsonObjectOf(text: string, contentType: string): Record<string, unknown> {
  return objectOf(text, contentType, ambiguousName);
}

/** As `jsonObjectOf` for protocols with case-insensitive names: any case is allowed, but each name only once per object. */
export function caselessObjectOf(text: string, contentType: string): Record<string, unknown> {
  return objectOf(text, contentType, ambiguousNameIn);
}

function objectOf(
  text: string,
  contentType: string,
  unclearName: (value: Record<string, unknown>) => AmbiguousName | null,
): Record<string, unknown> {
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType))
    throw invalidFields("invalid_body", [{ field: "", message: "The body must be sent as application/json." }]);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidFields("invalid_body", [{ field: "", message: "The body is not JSON." }]);
  }
  if (!isObject(value)) throw invalidFields("invalid_body", [{ field: "", message: "The body must be a JSON object." }]);
  const unclear = unclearName(value as Record<string, unknown>);
  if (unclear !== null) throw new Refused(refuse("ambiguous_name", ambiguityOf(unclear)));
  const unholdable = unholdableIn(value);
  if (unholdable !== undefined) throw invalidFields("invalid_body", [unholdable]);
  return value as Record<string, unknown>;
}

/** The first place in a JSON value that the database cannot store; undefined if there is none. */
export const unholdableIn = (value: unknown): FieldError | undefined => findUnholdable(value, [], 0);

function findUnholdable(value: unknown, path: readonly string[], depth: number): FieldError | undefined {
  const field = path.join(".");
  if (typeof value === "string") return isStorableText(value) ? undefined : { field, message: "holds a NUL or half a surrogate pair" };
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= MAX_DEPTH) return { field, message: "is nested too deep" };
  for (const [key, member] of Object.entries(value)) {
    if (!isStorableText(key)) return { field, message: "has a name that holds a NUL or half a surrogate pair" };
    // Schemas silently drop a member of this name from records: a filter would be lost, and what it excludes would be returned.
    if (key === "__proto__") return { field: [...path, key].join("."), message: "is not known here" };
    const found = findUnholdable(member, [...path, key], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
