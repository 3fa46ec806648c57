import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { jsonLog } from "../../server/kernel/log.ts";
import { openDataDirectory } from "../../server/store/data-directory.ts";
import { type Database, openDatabase, poolOf } from "../../server/store/database.ts";
import { startEmbeddedPostgres } from "../../server/store/embedded.ts";
import { migrate } from "../../server/store/migrate.ts";
import { describeRows } from "../../server/store/ledger/row-blocks.ts";
import { rowQueries, runQueries, type Measured } from "./measured-queries.ts";
import { generateRows, type GeneratedRange } from "./generated-rows.ts";
import { generateRuns } from "./generated-runs.ts";

/**
 * Fills an embedded PostgreSQL with generated rows and runs and describes the rows. Then times queries for the newest page of a common, a
 * rare and an absent value of each field and for a day's run aggregates, with the CPU time of the database and of this process. Arguments:
 * rows (100,000), days (60); a quarter as many runs. `--database URL` queries a database filled earlier and changes nothing in it.
 */
const { values: options, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { database: { type: "string" }, only: { type: "string" }, turns: { type: "string", default: "3" } },
});
const ROWS = Number(positionals[0] ?? 100_000);
const DAYS = Number(positionals[1] ?? 60);
const TURNS = Number(options.turns);
const AT_ONCE = 50_000;

if (options.database === undefined) await withOwnDatabase(measure);
else await measure(options.database);

async function withOwnDatabase(use: (url: string) => Promise<void>): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), "gatehouse-bench-rows-"));
  const directory = openDataDirectory(path);
  const postgres = await startEmbeddedPostgres({ directory, log: jsonLog("error") });
  try {
    await fill(postgres.url);
    await use(postgres.url);
  } finally {
    await postgres.stop();
    directory.close();
    rmSync(postgres.home, { recursive: true, force: true });
    rmSync(path, { recursive: true, force: true });
  }
}

async function fill(url: string): Promise<void> {
  const { db, close } = openDatabase(url, { log: jsonLog("error"), max: 2 });
  try {
    await migrate(db);
    const endMs = Date.now() - 60_000;
    const startMs = endMs - DAYS * 86_400_000;
    for (let at = startMs; at < endMs; at += 86_400_000) await poolOf(db).query("SELECT ensure_audit_partition($1)", [new Date(at)]);
    const started = performance.now();
    await filled(db, generateRows, ROWS, startMs, endMs);
    await filled(db, generateRuns, Math.floor(ROWS / 4), startMs, endMs);
    await poolOf(db).query("ANALYZE");
    const stored = performance.now();
    for (let blocks = -1; blocks !== 0;) blocks = await describeRows(db, new Date());
    console.log(
      `${ROWS} rows and ${Math.floor(ROWS / 4)} runs stored in ${seconds(stored - started)}, described in ${seconds(performance.now() - stored)}`,
    );
  } finally {
    await close();
  }
}

async function filled(
  db: Database,
  generated: (range: GeneratedRange) => string,
  count: number,
  startMs: number,
  endMs: number,
): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE)
    await poolOf(db).query(generated({ from, to: Math.min(count, from + AT_ONCE), startMs, stepMs: (endMs - startMs) / count }));
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

interface Figure {
  readonly what: string;
  readonly wallMs: number;
  readonly databaseMs: number;
  readonly clientMs: number;
}

async function measure(url: string): Promise<void> {
  const { db, close } = openDatabase(url, { log: jsonLog("error"), max: 2 });
  const backends = new Set<number>();
  poolOf(db).on("connect", (client) => backends.add((client as unknown as { processID: number }).processID));
  try {
    const asked = [...(await rowQueries(db)), ...(await runQueries(db))].filter(
      ({ what }) => options.only === undefined || what.includes(options.only),
    );
    for (const kind of ["page", "figures"] as const) {
      const figures: Figure[] = [];
      for (const query of asked.filter((one) => one.kind === kind)) figures.push(await figureOf(query, backends));
      report(kind, figures, kind === "page" ? 100 : 300);
    }
  } finally {
    await close();
  }
}

/** The minimum of several runs: the first may plan and read from disk, and other processes compete for the CPU. */
async function figureOf(query: Measured, backends: ReadonlySet<number>): Promise<Figure> {
  const best = { wallMs: Number.POSITIVE_INFINITY, databaseMs: Number.POSITIVE_INFINITY, clientMs: Number.POSITIVE_INFINITY };
  for (let turn = 0; turn < TURNS; turn++) {
    const before = { wall: performance.now(), database: processorMs(backends), client: process.cpuUsage() };
    await query.ask();
    const client = process.cpuUsage(before.client);
    best.wallMs = Math.min(best.wallMs, performance.now() - before.wall);
    best.databaseMs = Math.min(best.databaseMs, processorMs(backends) - before.database);
    best.clientMs = Math.min(best.clientMs, (client.user + client.system) / 1_000);
  }
  return { what: query.what, ...best };
}

/** CPU time of the server processes of our connections; 0 where the system cannot tell (only Linux can). */
function processorMs(backends: ReadonlySet<number>): number {
  let nanoseconds = 0;
  for (const pid of backends) {
    try {
      nanoseconds += Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      continue;
    }
  }
  return nanoseconds / 1e6;
}

function report(kind: string, figures: readonly Figure[], bound: number): void {
  const at = (of: (figure: Figure) => number, share: number): string =>
    ([...figures].sort((a, b) => of(b) - of(a)).map(of)[Math.floor((figures.length - 1) * share)] ?? 0).toFixed(1);
  const line = (of: (figure: Figure) => number) => `median ${at(of, 0.5)}, slowest tenth from ${at(of, 0.1)}, slowest ${at(of, 0)}`;
  console.log(`${kind}: ${figures.length} queries, of which over ${bound} ms: ${figures.filter(({ wallMs }) => wallMs > bound).length}`);
  console.log(
    `  wall time, ms: ${line((figure) => figure.wallMs)}\n  processor time of the database, ms: ${line((figure) => figure.databaseMs)}\n  processor time of this process, ms: ${line((figure) => figure.clientMs)}`,
  );
  for (const { what, wallMs, databaseMs } of [...figures].sort((a, b) => b.databaseMs - a.databaseMs).slice(0, 20))
    console.log(`${wallMs.toFixed(1).padStart(9)} ms, database ${databaseMs.toFixed(1).padStart(7)} ms  ${what}`);
}
