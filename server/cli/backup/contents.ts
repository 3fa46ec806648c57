import { createReadStream, existsSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readVariable } from "../../kernel/configuration/read-variable.ts";
import type { HeadCheckpoint } from "../../ledger/checkpoints/unsigned-heads.ts";
import { storedSecret } from "../stored-secret.ts";
import type { RowsDigest, TableContents } from "../../store/records/table-contents.ts";

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

/** What stands over rows that their writer had not signed yet. */
export interface CheckpointsEntry {
  readonly entry: "checkpoints";
  readonly checkpoints: readonly HeadCheckpoint[];
}

export interface FileEntry {
  readonly entry: "file";
  readonly key: string;
}

const SIGNING_KEY = "audit-signing-key.pem";
/** What another database has a use for: not the password of the embedded one. */
const SECRETS = ["secret-key", "jwt-secret", SIGNING_KEY];

export function readSecrets(dataDir: string): Record<string, string> {
  const found = SECRETS.map((name) => [name, storedSecret(dataDir, name)] as const);
  return Object.fromEntries(found.filter((one): one is readonly [string, string] => one[1] !== null));
}

const BLOB_FOLDER = /^[a-z0-9-]{2}$/;

/** What signs checkpoints: as the gateway is given it, or as it made it. */
export function readSigningKey(dataDir: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  return readVariable(env, "GW_AUDIT_SIGNING_KEY") ?? storedSecret(dataDir, SIGNING_KEY) ?? undefined;
}

/** Keys of the files of callers that are stored in the data directory. */
export function* storedFiles(dataDir: string): Generator<string> {
  const root = join(dataDir, "files");
  if (!existsSync(root)) return;
  for (const folder of readdirSync(root).filter((name) => BLOB_FOLDER.test(name))) yield* readdirSync(join(root, folder));
}

/** Open, so that it can be read to its end whoever removes it; null where it was removed since it was listed. */
export function fileOf(dataDir: string, key: string): AsyncIterable<Uint8Array> | null {
  const path = join(dataDir, "files", key.slice(-2).toLowerCase(), key);
  try {
    return createReadStream(path, { fd: openSync(path, "r") });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
