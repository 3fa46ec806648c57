import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FieldName } from "@gatehouse/ledger-format/fields";
import { jsonLog } from "../../server/kernel/log.ts";
import { queryRows, type RowQuery } from "../../server/ledger/query.ts";
import { openDataDirectory } from "../../server/store/data-directory.ts";
import { type Database, openDatabase, poolOf } from "../../server/store/database.ts";
import { startEmbeddedPostgres } from "../../server/store/embedded.ts";
import { migrate } from "../../server/store/migrate.ts";
import { describeRows } from "../../server/store/row-blocks.ts";
import { FILTERED, nowhere, RARE } from "./filters.ts";
import { generateRows } from "./generated-rows.ts";

/**
 * Fills an embedded PostgreSQL with generated rows, describes them, and asks for the newest page of a common, a rare and
 * an absent value of each field: how long, and how much processor time of the database. Arguments: rows (100,000), days (60).
 */
const ROWS = Number(process.argv[2] ?? 100_000);
const DAYS = Number(process.argv[3] ?? 60);
const AT_ONCE = 50_000;
const TENANT = "t1c6f0e0-8f2b-4d57-9d7c-0d9b6f0c6f0e";

const path = mkdtempSync(join(tmpdir(), "gatehouse-bench-rows-"));
const directory = openDataDirectory(path);
const postgres = await startEmbeddedPostgres({ directory, log: jsonLog("error") });
const { db, close } = openDatabase(postgres.url, { log: jsonLog("error"), max: 2 });
try {
  await migrate(db);
  await fill(db);
  await queries(db);
} finally {
  await close();
  await postgres.stop();
  directory.close();
  rmSync(postgres.home, { recursive: true, force: true });
  rmSync(path, { recursive: true, force: true });
}

async function fill(database: Database): Promise<void> {
  const endMs = Date.now() - 60_000;
  const startMs = endMs - DAYS * 86_400_000;
  for (let at = startMs; at < endMs; at += 86_400_000) await poolOf(database).query("SELECT ensure_audit_partition($1)", [new Date(at)]);
  const started = performance.now();
  for (let from = 0; from < ROWS; from += AT_ONCE) await poolOf(database).query(generateRows({ from, to: Math.min(ROWS, from + AT_ONCE), startMs, stepMs: (endMs - startMs) / ROWS }));
  await poolOf(database).query("ANALYZE");
  const stored = performance.now();
  for (let blocks = -1; blocks !== 0; ) blocks = await describeRows(database, new Date());
  console.log(`${ROWS} rows stored in ${seconds(stored - started)}, described in ${seconds(performance.now() - stored)}`);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

async function queries(database: Database): Promise<void> {
  const newest = await poolOf(database).query<{ row: Record<string, unknown> }>("SELECT to_jsonb(a) AS row FROM audit_rows a WHERE tenant_id = $1 AND proxy_type = 'llm' AND http_status_code = 200 ORDER BY id DESC LIMIT 1", [TENANT]);
  const common = newest.rows[0]?.row ?? {};
  const window = { from: new Date(Date.now() - 3 * 86_400_000).toISOString(), to: new Date(Date.now() - 86_400_000).toISOString() };
  const figures: { what: string; ms: number }[] = [];
  for (const field of FILTERED) {
    const asked: [string, unknown][] = [["common", common[field] ?? null], ["absent", nowhere(field)]];
    if (RARE[field] !== undefined) asked.push(["rare", RARE[field]]);
    for (const [kind, value] of asked) {
      figures.push({ what: `${field} ${kind}`, ms: await took(database, field, value, {}) });
      if (kind === "rare") figures.push({ what: `${field} ${kind}, two days`, ms: await took(database, field, value, window) });
    }
  }
  figures.sort((a, b) => b.ms - a.ms);
  const at = (share: number): string => (figures[Math.floor((figures.length - 1) * share)]?.ms ?? 0).toFixed(1);
  console.log(`${figures.length} queries: median ${at(0.5)} ms, slowest tenth from ${at(0.1)} ms, over 100 ms: ${figures.filter(({ ms }) => ms > 100).length}`);
  for (const { what, ms } of figures.slice(0, 20)) console.log(`${ms.toFixed(1).padStart(9)} ms  ${what}`);
}

/** The better of two: the first may plan and read from the disk. */
async function took(database: Database, field: FieldName, value: unknown, more: RowQuery): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 2; turn++) {
    const started = performance.now();
    await queryRows(database, { ...more, tenant_id: TENANT, filters: { [field]: value } }, { bodies: false });
    best = Math.min(best, performance.now() - started);
  }
  return best;
}
