import type { z } from "zod";
import { invalidFields, type ErrorCode, type FieldError } from "../../kernel/errors.ts";
import { isStorableText } from "../../kernel/text/storable.ts";

/** Decodes UTF-8. Throws a refusal if the bytes are invalid. */
export function utf8Of(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidFields("invalid_body", [{ field: "", message: "The body is not UTF-8." }]);
  }
}

/** The query string as an object. A repeated name is refused, because it would be ambiguous which value counts. */
export function readQuery(url: URL): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    if (Object.hasOwn(query, name)) throw invalidFields("invalid_query", [{ field: name, message: "is given twice" }]);
    // Assigned to an object this would set its prototype, so no schema would see it.
    if (name === "__proto__") throw invalidFields("invalid_query", [{ field: name, message: "is not known here" }]);
    if (!isStorableText(name) || !isStorableText(value)) throw invalidFields("invalid_query", [{ field: name, message: "holds a NUL" }]);
    query[name] = value;
  }
  return query;
}

/** The value as parsed by the schema. Throws a refusal that names each invalid field. */
export function check<T extends z.ZodType>(schema: T, value: unknown, code: ErrorCode): z.output<T> {
  // The input distinguishes a wrong type from a missing value; it is not included in messages.
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalidFields(code, parsed.error.issues.flatMap(fieldErrors));
}

/** The fields that one issue concerns; needs `reportInput`. */
export function fieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  const at = (...more: PropertyKey[]) => [...issue.path, ...more].map(String).join(".");
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => ({ field: at(key), message: "is not known here" }));
  if (issue.code === "invalid_type" && issue.input === undefined && issue.path.length > 0) return [{ field: at(), message: "is required" }];
  return [{ field: at(), message: issue.message }];
}
