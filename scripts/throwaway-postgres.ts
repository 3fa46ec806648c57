import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jsonLog } from "../server/kernel/log.ts";
import { openDataDirectory } from "../server/store/data-directory.ts";
import { startEmbeddedPostgres } from "../server/store/embedded.ts";

/**
 * A PostgreSQL for one run of the tests: prints its URL, then lives until its standard input closes, which happens
 * when the run ends in whatever way. Nothing in it survives, so nothing is synced.
 */
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" };

const path = mkdtempSync(join(tmpdir(), "gatehouse-test-"));
const directory = openDataDirectory(path);
const postgres = await startEmbeddedPostgres({ directory, log: jsonLog("error"), settings: SETTINGS });
process.stdout.write(`${postgres.url}\n`);

// Ctrl-C reaches the whole group; this process goes last, when the runner has closed its input.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
for await (const _ of process.stdin);
await postgres.stop();
directory.close();
rmSync(postgres.home, { recursive: true, force: true });
rmSync(path, { recursive: true, force: true });
