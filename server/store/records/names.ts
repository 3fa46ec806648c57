import { sql, type RawBuilder } from "kysely";
import { containing } from "./paging.ts";

/**
 * Names of groups are kept as they were written and compared composed (NFC), so that a name is one name however a keyboard
 * writes it.
 */
export function isName(name: string): RawBuilder<boolean> {
  return sql<boolean>`normalize(name, NFC) = ${name.normalize("NFC")}`;
}

export function nameContains(part: string): RawBuilder<boolean> {
  return sql<boolean>`normalize(name, NFC) ILIKE ${containing(part.normalize("NFC"))}`;
}
