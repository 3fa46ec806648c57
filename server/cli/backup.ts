import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { listChains } from "../ledger/chains/chain-facts.ts";
import { systemClock } from "../kernel/clock.ts";
import { signUnsignedHeads } from "../ledger/checkpoints/unsigned-heads.ts";
import { reasonOf } from "../kernel/errors.ts";
import { holdConnection } from "../store/connections/held-connection.ts";
import { hasTables } from "../store/inspect-database.ts";
import { appliedMigrations, pendingMigrations, refuseHalfRestored } from "../store/migrate.ts";
import { productRelease } from "../store/product-release.ts";
import { beginReading, copyRows, listTables, readPartitions, readSequences, RowsCount } from "../store/records/table-contents.ts";
import { openAuditDatabase } from "./audit-database.ts";
import { type ArchiveWriter, writeArchive } from "./backup/write-archive.ts";
import {
  BACKUP_FORMAT,
  type BackupHead,
  type CheckpointsEntry,
  type FileEntry,
  fileOf,
  readSecrets,
  readSigningKey,
  type SecretsEntry,
  storedFiles,
  type TableEndEntry,
  type TableEntry,
} from "./backup/contents.ts";
import { examineBackup } from "./backup/examine.ts";
import type { CommandIo } from "./command-io.ts";

const USAGE = `Usage:
  gatehouse backup FILE [--database-url URL | --data-dir DIR] [--without-secrets]
  gatehouse backup --verify FILE

Writes one file with the whole database at one moment, callers' files in the data directory, and the generated secrets, without
which stored provider keys cannot be decrypted: protect it like those. The gateway may run meanwhile; rows that are still in its
journal are not included. Rows that their process has not signed yet are signed in the backup, with GW_AUDIT_SIGNING_KEY or the
key in the data directory. --verify reads a backup to its end and compares it with the digests in it, and needs nothing else.
`;

/** `gatehouse backup`. Resolves with the exit code; never throws. */
export async function backupCommand(argv: string[], env: Readonly<Record<string, string | undefined>>, io: CommandIo): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: {
        "database-url": { type: "string" },
        "data-dir": { type: "string" },
        "without-secrets": { type: "boolean", default: false },
        verify: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
      allowPositionals: true,
    });
    if (values.help) {
      await io.stdout(USAGE);
      return 0;
    }
    const [path, ...rest] = positionals;
    if (path === undefined || rest.length > 0) throw new Error(`say which file\n${USAGE}`);
    if (values.verify) {
      const found = await examineBackup(path);
      await io.stdout(`${path}: whole, of ${found.head.made_at}, ${found.tables} tables with ${found.rows} rows, ${found.files} files\n`);
      return 0;
    }
    if (existsSync(path)) throw new Error(`${path} is there already`);
    const dataDir = values["data-dir"] ?? env["GW_DATA_DIR"] ?? "./data";
    const url = values["database-url"] ?? (values["data-dir"] === undefined ? env["DATABASE_URL"] : undefined);
    const database = await openAuditDatabase({ url, dataDir });
    try {
      const signingKey = readSigningKey(dataDir, env);
      await makeBackup(path, database.db, { dataDir, secrets: !values["without-secrets"], signingKey }, io);
    } finally {
      await database.close();
    }
    return 0;
  } catch (error) {
    io.stderr(`gatehouse backup: ${reasonOf(error)}\n`);
    return 1;
  }
}

type Database = Parameters<typeof holdConnection>[0];

interface BackupSource {
  readonly dataDir: string;
  readonly secrets: boolean;
  readonly signingKey: string | undefined;
}

async function makeBackup(path: string, db: Database, from: BackupSource, io: CommandIo): Promise<void> {
  const held = await holdConnection(db);
  const counts = { tables: 0, rows: 0, files: 0, secrets: 0 };
  let failed = true;
  try {
    if (!(await hasTables(held.db))) throw new Error("the database has no table: did a gateway ever start on it?");
    await refuseHalfRestored(held.db);
    await beginReading(held.client);
    await pendingMigrations(held.db);
    const migrations = [...(await appliedMigrations(held.db))].map(([name, digest]) => ({ name, digest }));
    const head: BackupHead = {
      entry: "backup",
      format: BACKUP_FORMAT,
      made_at: new Date().toISOString(),
      release: await productRelease(),
      migrations,
      partitions: await readPartitions(held.client),
      sequences: await readSequences(held.client),
    };
    const chains = await listChains(held.db);
    const checkpoints = await signUnsignedHeads(held.db, from.signingKey, systemClock());
    const digest = await writeArchive(path, async (archive) => {
      await archive.entry(head);
      for (const table of await listTables(held.client)) {
        const count = new RowsCount();
        await archive.entry({ entry: "table", ...table } satisfies TableEntry, copyRows(held.client, table, count));
        await archive.entry({ entry: "table_end", name: table.name, ...count.result } satisfies TableEndEntry);
        counts.tables++;
        counts.rows += count.result.rows;
      }
      await archive.entry({ entry: "checkpoints", checkpoints } satisfies CheckpointsEntry);
      await keepOutside(archive, from, counts);
    });
    await held.client.query("COMMIT");
    failed = false;
    await io.stdout(`${path}: ${counts.tables} tables with ${counts.rows} rows, ${counts.files} files, ${counts.secrets} secrets\n`);
    for (const { chain_id, head_seq, last_checkpoint_seq } of chains) {
      const isSigned = (last_checkpoint_seq ?? 0) >= head_seq || checkpoints.some((one) => one.chain_id === chain_id);
      const unsigned = isSigned ? "" : ", its newest rows unsigned: the gateway's signing key was not given";
      await io.stdout(`  audit chain ${chain_id} up to row ${head_seq}${unsigned}\n`);
    }
    await io.stdout(`  sha256 of its contents ${digest}\n`);
  } finally {
    held.release(failed);
  }
}

/** Adds what is stored outside the database. A file removed meanwhile is in no record that still matters. */
async function keepOutside(archive: ArchiveWriter, from: BackupSource, counts: { files: number; secrets: number }) {
  const secrets = from.secrets ? readSecrets(from.dataDir) : {};
  counts.secrets = Object.keys(secrets).length;
  await archive.entry({ entry: "secrets", secrets } satisfies SecretsEntry);
  for (const key of storedFiles(from.dataDir)) {
    const bytes = fileOf(from.dataDir, key);
    if (bytes === null) continue;
    await archive.entry({ entry: "file", key } satisfies FileEntry, bytes);
    counts.files++;
  }
}
