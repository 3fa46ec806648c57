import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jsonLog } from "../server/kernel/log.ts";
import { openDataDirectory } from "../server/store/data-directory.ts";
import { startEmbeddedPostgres } from "../server/store/embedded.ts";

/**
 * A PostgreSQL for one test run: prints its URL and lives until its standard input closes, which happens however the run ends. Nothing has
 * to survive, so nothing is synced.
 */
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" };

/** Each test creates and drops a database of a thousand files; on disk that is a third of what the databases cost. */
const MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 1024 ** 3;

function folderWithRoom(): string {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

const path = mkdtempSync(join(folderWithRoom(), "gatehouse-test-"));
const directory = openDataDirectory(path);
const postgres = await startEmbeddedPostgres({ directory, log: jsonLog("error"), settings: SETTINGS });
process.stdout.write(`${postgres.url}\n`);

// Ctrl-C reaches the whole process group; this process ends last, when the runner closes its input.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
for await (const _ of process.stdin);
await postgres.stop();
directory.close();
rmSync(postgres.home, { recursive: true, force: true });
rmSync(path, { recursive: true, force: true });
