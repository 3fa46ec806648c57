import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RowsDigest, TableContents } from "../../store/table-contents.ts";

/** What the entries of a backup are. */

export const BACKUP_FORMAT = 1;

export interface BackupHead {
  readonly entry: "backup";
  readonly format: number;
  readonly made_at: string;
  readonly release: string;
  /** Name and digest of each migration of the database. */
  readonly migrations: readonly { readonly name: string; readonly digest: string }[];
  /** Months that audit rows are kept in. */
  readonly partitions: readonly string[];
  readonly sequences: Readonly<Record<string, string | null>>;
}

/** Lines of `COPY`; what they are follows in an entry of its own, known only then. */
export interface TableEntry extends TableContents {
  readonly entry: "table";
}

export interface TableEndEntry extends RowsDigest {
  readonly entry: "table_end";
  readonly name: string;
}

export interface SecretsEntry {
  readonly entry: "secrets";
  readonly secrets: Readonly<Record<string, string>>;
}

export interface FileEntry {
  readonly entry: "file";
  readonly key: string;
}

/** What another database has a use for: not the password of the embedded one. */
const SECRETS = ["secret-key", "jwt-secret", "audit-signing-key.pem"];

export function readSecrets(dataDir: string): Record<string, string> {
  const paths = SECRETS.map((name) => [name, join(dataDir, "secrets", name)] as const).filter(([, path]) => existsSync(path));
  return Object.fromEntries(paths.map(([name, path]) => [name, readFileSync(path, "utf8")]));
}

const BLOB_FOLDER = /^[a-z0-9-]{2}$/;

/** Keys of the files of callers that are stored in the data directory. */
export function* storedFiles(dataDir: string): Generator<string> {
  const root = join(dataDir, "files");
  if (!existsSync(root)) return;
  for (const folder of readdirSync(root).filter((name) => BLOB_FOLDER.test(name))) yield* readdirSync(join(root, folder));
}

export const fileOf = (dataDir: string, key: string): AsyncIterable<Uint8Array> =>
  createReadStream(join(dataDir, "files", key.slice(-2).toLowerCase(), key));
