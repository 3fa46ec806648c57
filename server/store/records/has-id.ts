import { sql } from "kysely";
import { isStorableText } from "../../kernel/text/storable.ts";

/** That a record has the id that a caller named, which in a body or a query is any text: what no column holds is the id of none. */
export const hasId = (id: string, column = "id") => (isStorableText(id) ? sql<boolean>`${sql.ref(column)} = ${id}` : sql<boolean>`false`);
