import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { type FieldError, invalidFields } from "../../kernel/errors.ts";

type Members = Readonly<Record<string, unknown>>;

/**
 * Removes read-only members from a body that is a record as it was read, possibly changed. Unchanged ones are ignored, changed ones are
 * refused by name. With `keepsRest` (members left out keep their value), unchanged values are not validated again either.
 */
export function withoutReadOnly(
  body: Members,
  { schema, record, current, keepsRest }: { schema: z.ZodObject; record: z.ZodObject; current: Members; keepsRest: boolean },
): Members {
  const kept: Record<string, unknown> = { ...body };
  for (;;) {
    const parsed = schema.safeParse(kept);
    if (parsed.success) return kept;
    const before = Object.keys(kept).length;
    const changed: FieldError[] = [];
    for (const issue of parsed.error.issues) {
      const isRoot = issue.path.length === 0 && issue.code === "unrecognized_keys";
      const unwritable = isRoot ? issue.keys.filter((name) => name in record.shape) : [];
      for (const name of unwritable) {
        if (isAsRead(name, kept[name], current)) delete kept[name];
        else changed.push({ field: name, message: "cannot be changed" });
      }
      const [name] = issue.path;
      if (keepsRest && typeof name === "string" && name in kept && name in current && isDeepStrictEqual(kept[name], current[name]))
        delete kept[name];
    }
    if (changed.length > 0) throw invalidFields("read_only_field", changed);
    if (Object.keys(kept).length === before) return kept;
  }
}

const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

/** Milliseconds since the epoch; NaN if it is not a timestamp. */
const momentOf = (value: unknown) => (typeof value === "string" && MOMENT.test(value) ? Date.parse(value) : Number.NaN);

/**
 * Whether a member is unchanged from the record. Timestamps may be written differently, and one that the gateway advances may be any
 * earlier value since the record was made, because a copy gets old. Members that no read returns count as unchanged.
 */
function isAsRead(name: string, given: unknown, current: Members): boolean {
  const known = current[name];
  if (!(name in current) || isDeepStrictEqual(given, known)) return true;
  const [at, until, from] = [momentOf(given), momentOf(known), momentOf(current.created_at)];
  if (at === until) return true;
  if (name === "created_at" || Number.isNaN(until) || Number.isNaN(from)) return false;
  return given === null ? name !== "updated_at" : at >= from && at < until;
}
