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

/** An audit row as queries return it: every field is present, null if it does not apply. Derived from the ledger's field table. */
export const auditRow = z
  .strictObject({
    ...(Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, typed(field)])) as Shape),
    bodies_withheld: z.boolean().describe("true: the caller may not read previews, which are null"),
  })
  .meta({ id: "AuditRow" });
