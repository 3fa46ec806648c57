import type { z } from "zod";
import { check } from "../../wire/http/strict-input.ts";

/** For a DELETE that removes bindings: the IDs from the query (comma-separated) or else the body; refuses a call with neither. */
export function idsToUnbind<T extends z.ZodType>(schema: T, field: string, fromQuery: string | undefined, body: unknown): z.output<T> {
  return fromQuery === undefined
    ? check(schema, body, "invalid_body")
    : check(schema, { [field]: fromQuery.split(",").map((id) => id.trim()) }, "invalid_query");
}
