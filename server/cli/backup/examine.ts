import { RowsCount } from "../../store/records/table-contents.ts";
import { BackupDamaged, readArchive } from "./archive.ts";
import { BACKUP_FORMAT, type BackupHead, type TableEndEntry } from "./contents.ts";

/** Throws `BackupDamaged` unless it is a backup in a format that this release reads. */
export function requireBackup(path: string, head: Readonly<Record<string, unknown>>): BackupHead {
  if (head["entry"] !== "backup") throw new BackupDamaged(`${path} is not a backup of a gateway`);
  if (head["format"] !== BACKUP_FORMAT)
    throw new BackupDamaged(`${path} was made by a newer release: its form is ${String(head["format"])}`);
  return head as unknown as BackupHead;
}

/** Reads a backup to its end, without a database. Throws `BackupDamaged` if it was changed or cut off. */
export async function examineBackup(path: string): Promise<{ head: BackupHead; tables: number; rows: number; files: number }> {
  let head: BackupHead | undefined;
  let [tables, rows, files] = [0, 0, 0];
  let count = new RowsCount();
  for await (const { head: entry, bytes } of readArchive(path)) {
    if (head === undefined) head = requireBackup(path, entry);
    if (entry["entry"] === "table") {
      count = new RowsCount();
      for await (const piece of bytes) count.add(piece);
    } else if (entry["entry"] === "table_end") {
      const counted = entry as unknown as TableEndEntry;
      if (count.result.digest !== counted.digest || count.result.rows !== counted.rows)
        throw new BackupDamaged(`${path} is damaged: the rows of ${counted.name} are not those that were counted`);
      tables++;
      rows += counted.rows;
    } else if (entry["entry"] === "file") files++;
  }
  if (head === undefined) throw new BackupDamaged(`${path} is not a backup of a gateway`);
  return { head, tables, rows, files };
}
