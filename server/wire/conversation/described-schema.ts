import type { JsonObject } from "../../kernel/json-value.ts";
import type { OutputFormat } from "./request.ts";

/** A schema of an answer for a format without a place of its own for what the answer is for: the schema says it, unless it says something. */
export function describedSchema({ description, schema }: Extract<OutputFormat, { kind: "schema" }>): JsonObject {
  return (description === null || schema.description !== undefined ? schema : { ...schema, description }) as JsonObject;
}
