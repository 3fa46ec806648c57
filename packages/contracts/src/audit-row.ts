import { FIELDS } from "@gatehouse/ledger-format/fields";
import type { Field, FieldType } from "@gatehouse/ledger-format/field-types";
import { z } from "zod";

const TYPES = {
  text: () => z.string(),
  integer: () => z.number().int(),
  number: () => z.number(),
  boolean: () => z.boolean(),
  timestamp: () => z.string().describe("ISO 8601, UTC, six decimals"),
  json: () => z.unknown(),
} satisfies Record<FieldType, () => z.ZodType>;

type TypeOfField<T extends FieldType> = z.ZodNullable<ReturnType<(typeof TYPES)[T]>>;
type Shape = { [Name in keyof typeof FIELDS]: TypeOfField<(typeof FIELDS)[Name]["type"]> };

function typed({ type, kind, about }: Field): z.ZodType {
  return TYPES[type]().nullable().describe(`${about} (${kind})`);
}

/** A row as queries give it: every field present, null where absent. Made from the ledger's own table of fields. */
export const auditRow = z
  .strictObject({
    ...(Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, typed(field)])) as Shape),
    bodies_withheld: z.boolean().describe("true: the caller may not read previews, which are null"),
  })
  .meta({ id: "AuditRow" });
