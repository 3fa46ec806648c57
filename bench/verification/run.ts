import { generateKeyPairSync } from "node:crypto";
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { GENESIS_HASH, rowHash } from "@gatehouse/ledger-format/canonical";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { wholeLines } from "@gatehouse/ledger-format/whole-lines";
import type { Verification } from "@gatehouse/ledger-format/verdict";
import { createVerifier } from "@gatehouse/ledger-format/verify";
import { verifyExport } from "@gatehouse/ledger-format/verify-export";
import { filePieces } from "../../server/cli/file-pieces.ts";
import { systemClock } from "../../server/kernel/clock.ts";
import { jsonLog } from "../../server/kernel/log.ts";
import { exportChain } from "../../server/ledger/chains/chain-export.ts";
import { verifyChain } from "../../server/ledger/chains/chains.ts";
import { openLedger } from "../../server/ledger/ledger.ts";
import { openDataDirectory } from "../../server/store/data-directory.ts";
import { type Database, openDatabase } from "../../server/store/database.ts";
import { startEmbeddedPostgres } from "../../server/store/embedded.ts";
import { migrate } from "../../server/store/migrate.ts";
import { cpuSeconds } from "../processes/process-tree.ts";
import { callRow } from "./call-rows.ts";

/**
 * Measures rows verified per second of CPU time: in memory, from an export file, and from an embedded PostgreSQL. Arguments: rows
 * (100,000), rounds (3).
 */
const ROWS = Number(process.argv[2] ?? 100_000);
const ROUNDS = Number(process.argv[3] ?? 3);
const AT_ONCE = 200;

const path = mkdtempSync(join(tmpdir(), "gatehouse-bench-verification-"));
const log = jsonLog("error");
const directory = openDataDirectory(path);
const postgres = await startEmbeddedPostgres({ directory, log });
const { db, close } = openDatabase(postgres.url, { log, max: 4 });
try {
  await migrate(db);
  const chainId = await fill(db);
  const file = join(path, "chain.jsonl");
  await pipeline(Readable.from(exportChain(db, chainId)), createWriteStream(file));
  console.log(`${ROWS} rows, ${(statSync(file).size / ROWS / 1_000).toFixed(1)} KB each as exported`);
  const rows = memoryRows();
  for (let round = 0; round < ROUNDS; round++) {
    await measure("in memory", () => inMemory(rows));
    await measure("file", () => verifyExport(wholeLines(filePieces(file))));
    await measure("database", () => verifyChain(db, chainId));
  }
} finally {
  await close();
  await postgres.stop();
  directory.close();
  rmSync(postgres.home, { recursive: true, force: true });
  rmSync(path, { recursive: true, force: true });
}

/** Writes rows through the ledger, as calls do. Resolves to the chain's ID. */
async function fill(database: Database): Promise<string> {
  const signingKey = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }) as string;
  const ledger = await openLedger({
    directory: join(path, "journal"),
    db: database,
    durability: "relaxed",
    maxBytes: 2 ** 40,
    shipWaitMs: 200,
    signingKey,
    clock: systemClock(),
    log,
  });
  for (let i = 0; i < ROWS; i += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, ROWS - i) }, (_, more) => ledger.seal(callRow(i + more))));
    if (ledger.status().unshippedRows > 10_000) await ledger.shipped();
  }
  await ledger.shipped();
  await ledger.close();
  return ledger.chainId;
}

function memoryRows(): AuditRow[] {
  let prev_hash = GENESIS_HASH;
  return Array.from({ length: ROWS }, (_, i) => {
    const row: AuditRow = {
      ...callRow(i),
      created_at: new Date().toISOString().replace("Z", "000Z"),
      chain_id: "chain",
      chain_seq: i + 1,
      prev_hash,
    };
    row.row_hash = rowHash(row, "v2", prev_hash);
    prev_hash = row.row_hash;
    return row;
  });
}

function inMemory(rows: readonly AuditRow[]): Verification {
  const chain = { chain_id: "chain", first_seq: 1, head_seq: null, head_hash: null, last_checkpoint_seq: null, updated_at: null };
  const verifier = createVerifier({ chain, keys: [], now: new Date().toISOString().replace("Z", "000Z") });
  for (const row of rows) verifier.row(row);
  return verifier.end();
}

async function measure(what: string, verify: () => Promise<Verification> | Verification): Promise<void> {
  const database = cpuSeconds(process.pid).database;
  const cpu = process.cpuUsage();
  const started = performance.now();
  const result = await verify();
  const wall = (performance.now() - started) / 1_000;
  const used = process.cpuUsage(cpu);
  const own = (used.user + used.system) / 1e6;
  const theirs = cpuSeconds(process.pid).database - database;
  if (result.rows_checked !== ROWS || result.findings.some(({ verdict }) => verdict !== "unanchored"))
    throw new Error(`${what}: ${result.verdict} over ${result.rows_checked} rows`);
  const per = (seconds: number) =>
    `${Math.round(ROWS / seconds)
      .toString()
      .padStart(8)} rows/s`;
  console.log(
    `${what.padEnd(10)}${per(own)} of its processor time, ${per(wall)} by the clock${theirs > 0 ? `, ${((theirs / ROWS) * 1e6).toFixed(1)} us of the database's processor time for a row` : ""}`,
  );
}
