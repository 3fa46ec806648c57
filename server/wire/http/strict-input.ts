import type { z } from "zod";
import { invalidFields, type ErrorCode, type FieldError } from "../../kernel/errors.ts";
import { isStorableText } from "../../kernel/text/storable.ts";

/** Bytes as UTF-8 text; throws a refusal when they are none. */
export function utf8Of(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidFields("invalid_body", [{ field: "", message: "The body is not UTF-8." }]);
  }
}

/** The query string as an object. A name given twice is refused: which one counts would be anyone's guess. */
export function readQuery(url: URL): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    if (Object.hasOwn(query, name)) throw invalidFields("invalid_query", [{ field: name, message: "is given twice" }]);
    // Set on an object it would be no member of it, so that no schema would see it.
    if (name === "__proto__") throw invalidFields("invalid_query", [{ field: name, message: "is not known here" }]);
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
