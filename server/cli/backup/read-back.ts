import { copyRows, listTables, RowsCount } from "../../store/records/table-contents.ts";
import type { TableEndEntry, TableEntry } from "./contents.ts";

type Client = Parameters<typeof listTables>[0];

/**
 * Throws unless the table now contains exactly the rows counted during the backup. Columns are compared in the backup's order, which
 * differs between databases upgraded release by release and new ones.
 */
export async function requireSame(client: Client, { name, columns }: TableEntry, { rows, digest }: TableEndEntry): Promise<void> {
  const table = (await listTables(client)).find((one) => one.name === name);
  if (table === undefined) throw new Error(`the database has no table ${name}`);
  const beside = table.columns.find((one) => !columns.includes(one));
  if (beside !== undefined) throw new Error(`the backup has no ${beside} of ${name}`);
  const count = new RowsCount();
  for await (const _ of copyRows(client, { name, columns }, count));
  if (count.result.rows !== rows || count.result.digest !== digest)
    throw new Error(`${name} was read back as ${count.result.rows} rows that are not the ${rows} of the backup`);
}
