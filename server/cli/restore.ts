import { join } from "node:path";
import { parseArgs } from "node:util";
import { ADMIN_CHAIN } from "@gatehouse/ledger-format/admin-entry";
import { listChains } from "../ledger/chains/chain-facts.ts";
import { verifyChain } from "../ledger/chains/chains.ts";
import { reasonOf } from "../kernel/errors.ts";
import { jsonLog } from "../kernel/log.ts";
import { moveFiles } from "../store/files/files.ts";
import { openBlobDirectory } from "../store/files/blob-directory.ts";
import type { BlobStore } from "../store/files/blobs.ts";
import { type DataDirectory, openDataDirectory } from "../store/data-directory.ts";
import { type Database, openDatabase } from "../store/database.ts";
import { holdConnection } from "../store/connections/held-connection.ts";
import { startEmbeddedPostgres } from "../store/embedded.ts";
import { refuseOtherBackup, requireMigrations } from "../store/backup-migrations.ts";
import { migrateTo } from "../store/migrate.ts";
import { beginRestore, endRestore } from "../store/unfinished-restore.ts";
import { beginLoading, loadRows, makePartitions, setSequences, withoutRules } from "../store/records/table-contents.ts";
import { exitCode } from "./audit-report.ts";
import { readArchive } from "./backup/archive.ts";
import { storeHeadCheckpoints } from "../ledger/checkpoints/unsigned-heads.ts";
import type { BackupHead, CheckpointsEntry, FileEntry, SecretsEntry, TableEndEntry, TableEntry } from "./backup/contents.ts";
import { examineSecretKey } from "./examine-secret-key.ts";
import { secretKeysOf } from "./secret-keys.ts";
import { examineBackup, requireBackup } from "./backup/examine.ts";
import type { CommandIo } from "./command-io.ts";
import { requireSame } from "./backup/read-back.ts";

const USAGE = `Usage:
  gatehouse restore FILE [--database-url URL] [--data-dir DIR]

Restores a backup into a database without tables, and its secrets and files into a data directory that has none of its own. The
backup is read to its end first. What was written is then read back and compared with the digests in the backup before it takes
effect, and every audit chain is verified. The output says whether the secret key (GW_SECRET_KEY, or the one in the backup) opens
what is stored encrypted. Nothing else may use the database or data directory meanwhile. Without --database-url and DATABASE_URL
the embedded database of the data directory is used. If a restore fails or is killed, no gateway starts on the database until
the same command has succeeded.
Exits with 0 (restored, every chain intact), 1 (restored, a chain unanchored), 2 (restored, a chain damaged), 3 (not restored).
`;

const NOT_RESTORED = 3;
const DIRECTORIES_OF_FILES = "0330_directories_of_files.sql";

/** `gatehouse restore`. Resolves with the exit code; never throws. */
export async function restoreCommand(argv: string[], env: Readonly<Record<string, string | undefined>>, io: CommandIo): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: { "database-url": { type: "string" }, "data-dir": { type: "string" }, help: { type: "boolean", default: false } },
      allowPositionals: true,
    });
    if (values.help) {
      await io.stdout(USAGE);
      return 0;
    }
    const [path, ...rest] = positionals;
    if (path === undefined || rest.length > 0) throw new Error(`say which file\n${USAGE}`);
    const { head, rows } = await examineBackup(path);
    await io.stdout(`${path}: whole, of ${head.made_at}, ${rows} rows\n`);
    const url = values["database-url"] ?? env["DATABASE_URL"];
    const directory = openDataDirectory(values["data-dir"] ?? env["GW_DATA_DIR"] ?? "./data");
    try {
      return await restoreInto(directory, url, path, env, io);
    } finally {
      directory.close();
    }
  } catch (error) {
    io.stderr(`gatehouse restore: ${reasonOf(error)}\n`);
    return NOT_RESTORED;
  }
}

async function restoreInto(
  directory: DataDirectory,
  url: string | undefined,
  path: string,
  env: Readonly<Record<string, string | undefined>>,
  io: CommandIo,
): Promise<number> {
  const log = jsonLog("error");
  const embedded = url === undefined ? await startEmbeddedPostgres({ directory, log }) : null;
  const connection = openDatabase(url ?? embedded?.url ?? "", { log, max: 3 });
  try {
    const taken =
      embedded === null
        ? `${connection.place} has tables already: a backup goes into an empty database`
        : `${directory.path} has a database already: name another --data-dir`;
    const counts = await loadBackup(connection.db, directory, path, taken);
    await io.stdout(
      `restored      ${counts.tables} tables, read back as they were written; ${counts.files} files, ${counts.secrets} secrets\n`,
    );
    const { about, detail } = await examineSecretKey(connection.db, secretKeysOf(env, directory.path));
    await io.stdout(`${about.padEnd(14)}${detail}\n`);
    return await verifyAll(connection.db, io);
  } finally {
    await connection.close();
    await embedded?.stop();
  }
}

/** Either the whole backup takes effect, or the database stays marked as half restored, and the next try starts over. */
async function loadBackup(db: Database, directory: DataDirectory, path: string, taken: string) {
  const counts = { tables: 0, files: 0, secrets: 0 };
  const entries = readArchive(path);
  const first = await entries.next();
  const head: BackupHead = requireBackup(path, first.value?.head ?? {});
  const migrations = new Map(head.migrations.map(({ name, digest }) => [name, digest]));
  await requireMigrations(migrations);
  const held = await holdConnection(db);
  let table: TableEntry = { entry: "table", name: "", columns: [] };
  try {
    if (!(await beginRestore(held.db, held.client))) throw new Error(taken);
    const blobs = await openBlobDirectory(join(directory.path, "files"), "arriving-restored");
    await refuseOtherBackup(held.db, migrations);
    await migrateTo(db, migrations);
    await beginLoading(held.client);
    await withoutRules(held.client, async () => {
      await makePartitions(held.client, head.partitions);
      for await (const { head: entry, bytes } of entries) {
        if (entry["entry"] === "table") {
          table = entry as unknown as TableEntry;
          await loadRows(held.client, table, bytes);
        } else if (entry["entry"] === "table_end") {
          await requireSame(held.client, table, entry as unknown as TableEndEntry);
          counts.tables++;
        } else if (entry["entry"] === "checkpoints")
          await storeHeadCheckpoints(held.db, (entry as unknown as CheckpointsEntry).checkpoints);
        else if (entry["entry"] === "secrets") counts.secrets = keepSecrets(directory, entry as unknown as SecretsEntry);
        else if (entry["entry"] === "file") counts.files += await keepFile(blobs, entry as unknown as FileEntry, bytes);
      }
      await setSequences(held.client, head.sequences);
      if (head.migrations.some(({ name }) => name === DIRECTORIES_OF_FILES)) await moveFiles(held.db, blobs.directory);
    });
    await endRestore(held.client);
    await held.client.query("COMMIT");
    await held.client.query("ANALYZE");
  } finally {
    held.release(true);
  }
  return counts;
}

/** Throws rather than overwrite another gateway's secrets: what was sealed with them could not be opened any more. */
function keepSecrets(directory: DataDirectory, { secrets }: SecretsEntry): number {
  for (const [name, value] of Object.entries(secrets))
    if (directory.secret(name, () => value) !== value)
      throw new Error(`${join(directory.secretsPath, name)} is there already, and another one`);
  return Object.keys(secrets).length;
}

async function keepFile(blobs: BlobStore, { key }: FileEntry, bytes: AsyncIterable<Uint8Array>): Promise<number> {
  await blobs.write(key, bytes);
  return 1;
}

async function verifyAll(db: Database, io: CommandIo): Promise<number> {
  let worst = 0;
  for (const id of [...(await listChains(db)).map((one) => one.chain_id), ADMIN_CHAIN]) {
    const { verdict, rows_checked } = await verifyChain(db, id);
    await io.stdout(`chain ${id.padEnd(28)}${verdict} over ${rows_checked} rows\n`);
    worst = Math.max(worst, exitCode(verdict));
  }
  return worst;
}
