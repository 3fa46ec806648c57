import { jsonLog } from "../../../server/kernel/log.ts";
import { openDataDirectory } from "../../../server/store/data-directory.ts";
import { startEmbeddedPostgres } from "../../../server/store/embedded.ts";

/** Runs the embedded PostgreSQL in the given data directory, with optional settings: prints its URL, and ends on SIGTERM. */
const directory = openDataDirectory(process.argv[2] as string);
const postgres = await startEmbeddedPostgres({ directory, log: jsonLog("error"), settings: JSON.parse(process.argv[3] ?? "{}") });
// The server alone does not keep this process alive.
setInterval(() => {}, 2 ** 30);
process.on("SIGTERM", async () => {
  await postgres.stop();
  directory.close();
  process.exit(0);
});
process.stdout.write(`${postgres.url}\n`);
