import { copyRows, listTables, RowsCount } from "../../store/table-contents.ts";
import type { TableEndEntry } from "./contents.ts";

type Client = Parameters<typeof listTables>[0];

/** What is in the table now is what was counted when it was read. */
export async function requireSame(client: Client, { name, rows, digest }: TableEndEntry): Promise<void> {
  const table = (await listTables(client)).find((one) => one.name === name);
  if (table === undefined) throw new Error(`the database has no table ${name}`);
  const count = new RowsCount();
  for await (const _ of copyRows(client, table, count));
  if (count.result.rows !== rows || count.result.digest !== digest)
    throw new Error(`${name} was read back as ${count.result.rows} rows that are not the ${rows} of the backup`);
}
