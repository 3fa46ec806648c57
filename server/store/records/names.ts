import { sql, type RawBuilder } from "kysely";
import { containing } from "./paging.ts";

/** Names of groups are stored as written and compared composed (NFC), so that a name is the same however a keyboard produces it. */
export function isName(name: string): RawBuilder<boolean> {
  return sql<boolean>`normalize(name, NFC) = ${name.normalize("NFC")}`;
}

export function nameContains(part: string): RawBuilder<boolean> {
  return sql<boolean>`normalize(name, NFC) ILIKE ${containing(part.normalize("NFC"))}`;
}
