import type { JsonObject } from "../../kernel/json-value.ts";
import type { OutputFormat } from "./request.ts";

/** The schema for formats without a separate description: the description is put into the schema, unless that has its own. */
export function describedSchema({ description, schema }: Extract<OutputFormat, { kind: "schema" }>): JsonObject {
  return (description === null || schema.description !== undefined ? schema : { ...schema, description }) as JsonObject;
}
