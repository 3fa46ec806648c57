import type { z } from "zod";
import { invalidFields, refuse, Refused, type ErrorCode, type FieldError } from "../kernel/errors.ts";
import { ambiguityOf, ambiguousName } from "./ambiguous-name.ts";
import type { JsonObject } from "./document.ts";
import { isStorableText } from "../kernel/storable.ts";

const MAX_DEPTH = 64;

/** The JSON object a text is; throws a refusal for anything else, and for text that no record can hold. */
export function jsonObjectOf(text: string, contentType: string): Record<string, unknown> {
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType))
    throw invalidFields("invalid_body", [{ field: "", message: "The body must be sent as application/json." }]);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidFields("invalid_body", [{ field: "", message: "The body is not JSON." }]);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidFields("invalid_body", [{ field: "", message: "The body must be a JSON object." }]);
  const unclear = ambiguousName(value as JsonObject);
  if (unclear !== null) throw new Refused(refuse("ambiguous_name", ambiguityOf(unclear)));
  const unholdable = findUnholdable(value, [], 0);
  if (unholdable !== undefined) throw invalidFields("invalid_body", [unholdable]);
  return value as Record<string, unknown>;
}

/** Bytes as UTF-8 text; throws a refusal when they are none. */
export function utf8Of(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidFields("invalid_body", [{ field: "", message: "The body is not UTF-8." }]);
  }
}

function findUnholdable(value: unknown, path: readonly string[], depth: number): FieldError | undefined {
  const field = path.join(".");
  if (typeof value === "string") return isStorableText(value) ? undefined : { field, message: "holds a NUL or half a surrogate pair" };
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= MAX_DEPTH) return { field, message: "is nested too deep" };
  for (const [key, member] of Object.entries(value)) {
    if (!isStorableText(key)) return { field, message: "has a name that holds a NUL or half a surrogate pair" };
    const found = findUnholdable(member, [...path, key], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The query string as an object. A name given twice is refused: which one counts would be anyone's guess. */
export function readQuery(url: URL): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    if (Object.hasOwn(query, name)) throw invalidFields("invalid_query", [{ field: name, message: "is given twice" }]);
    if (!isStorableText(name) || !isStorableText(value)) throw invalidFields("invalid_query", [{ field: name, message: "holds a NUL" }]);
    query[name] = value;
  }
  return query;
}

/** The value as its schema reads it, or a refusal that names each field. */
export function check<T extends z.ZodType>(schema: T, value: unknown, code: ErrorCode): z.output<T> {
  // What was sent tells a value of another type from one that is missing; it stands in no message.
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalidFields(code, parsed.error.issues.flatMap(fieldErrors));
}

function fieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  const at = (...more: PropertyKey[]) => [...issue.path, ...more].map(String).join(".");
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => ({ field: at(key), message: "is not known here" }));
  if (issue.code === "invalid_type" && issue.input === undefined && issue.path.length > 0) return [{ field: at(), message: "is required" }];
  return [{ field: at(), message: issue.message }];
}
