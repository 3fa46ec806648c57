import type { z } from "zod";
import { check } from "../../wire/http/strict-input.ts";

/** Of a DELETE that takes bindings away: the ids of the query, a comma list, else of the body; refuses a call that has neither. */
export function idsToUnbind<T extends z.ZodType>(schema: T, field: string, fromQuery: string | undefined, body: unknown): z.output<T> {
  return fromQuery === undefined
    ? check(schema, body, "invalid_body")
    : check(schema, { [field]: fromQuery.split(",").map((id) => id.trim()) }, "invalid_query");
}
