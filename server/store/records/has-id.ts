import { sql } from "kysely";
import { isStorableText } from "../../kernel/text/storable.ts";

/** Matches a record by an ID that a caller gave, which may be any text: one that no column can hold matches nothing. */
export const hasId = (id: string, column = "id") => (isStorableText(id) ? sql<boolean>`${sql.ref(column)} = ${id}` : sql<boolean>`false`);
