import { type Effort, EFFORTS, type OutputFormat } from "../conversation/request.ts";
import type { ToolBody } from "./function-tools.ts";
import { booleanOf, filledOf, objectOf, stringOf } from "./loose-fields.ts";
import { NOT_ELSEWHERE, type ReadReport } from "./read-report.ts";

/** Reads the answer format. `schemaOf` returns the object that contains name and schema. */
export function readOutputFormat(format: unknown, field: string, schemaOf: ToolBody, report: ReadReport): OutputFormat | null {
  const object = objectOf(format);
  if (object === null) return null;
  if (object.type === "text") return { kind: "text" };
  if (object.type === "json_object") return { kind: "json" };
  const held = object.type === "json_schema" ? schemaOf(object) : null;
  const schema = objectOf(held?.schema);
  if (held !== null && schema !== null)
    return {
      kind: "schema",
      name: filledOf(held.name) ?? "answer",
      description: stringOf(held.description),
      schema,
      strict: booleanOf(held.strict),
    };
  report.refuse(field, NOT_ELSEWHERE);
  return null;
}

export function readEffort(value: unknown, field: string, report: ReadReport): Effort | null {
  if (value === undefined || value === null) return null;
  const effort = EFFORTS.find((known) => known === value) ?? null;
  if (effort === null) report.refuse(field, `must be one of ${EFFORTS.join(", ")}`);
  return effort;
}
