import { compose, type Gateway } from "./compose.ts";
import { auditCommand } from "./cli/audit.ts";
import { doctorCommand } from "./cli/doctor.ts";
import { ChainUnproven } from "./ledger/recovery.ts";
import { JournalDamaged } from "./ledger/journal-contents.ts";
import { ConfigurationError, readConfiguration } from "./kernel/configuration.ts";
import { jsonLog } from "./kernel/log.ts";
import { whenParentGone } from "./runtime/parent.ts";
import { ListenError } from "./runtime/serve.ts";
import { outliveStrayRejections } from "./runtime/stray-rejections.ts";
import { welcome } from "./welcome.ts";
import { DataDirectoryError } from "./store/data-directory.ts";
import { EmbeddedPostgresError } from "./store/embedded/error.ts";
import { MigrationError } from "./store/migrate.ts";

/** Reasons not to start that need no stack: one line, exit code 1. */
const EXPECTED = [
  ConfigurationError,
  ListenError,
  DataDirectoryError,
  EmbeddedPostgresError,
  MigrationError,
  JournalDamaged,
  ChainUnproven,
];

async function start(): Promise<void> {
  const config = readConfiguration(process.env);
  const log = jsonLog(config.logLevel);
  outliveStrayRejections(log);
  const stopped = stopSignal(config.drainSeconds);
  const gateway = await compose(config, process.env, log);
  process.stdout.write(welcome(gateway, config));
  await stop(gateway, await stopped);
}

/** Whoever restarts a gateway whose launcher was killed does so at once, and finds the data directory taken until then. */
const ORPHAN_DRAIN_SECONDS = 0.5;

/** Resolves with the first request to stop, as seconds that calls in flight may take. A second Ctrl-C does not wait for them. */
function stopSignal(drainSeconds: number): Promise<number> {
  return new Promise((resolve) => {
    let asked = false;
    const ask = (seconds: number) => {
      asked = true;
      resolve(seconds);
    };
    process.on("SIGINT", () => (asked ? process.exit(130) : ask(drainSeconds)));
    process.on("SIGTERM", () => ask(drainSeconds));
    process.on("SIGHUP", () => ask(drainSeconds));
    whenParentGone(() => ask(Math.min(drainSeconds, ORPHAN_DRAIN_SECONDS)));
  });
}

async function stop(gateway: Gateway, drainSeconds: number): Promise<void> {
  process.stdout.write("Stopping: calls in flight may finish.\n");
  await gateway.stop(drainSeconds);
  process.stdout.write("Stopped. Every call has its audit row.\n");
  process.exit(0);
}

/** What a shell says of a command that SIGPIPE ended: no verdict, and nothing that went wrong. */
const READER_GONE = 141;

/** Resolves when the pipe has taken the text: an export must not be cut off by the exit after it. */
function written(text: string): Promise<void> {
  return new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve())));
}

/** Whoever reads the first lines only, as `head` does, is told no more. */
function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(READER_GONE);
  });
}

async function main([command = "start", ...rest]: string[]): Promise<void> {
  if (command === "audit" || command === "doctor") endWithReader();
  if (command === "audit") process.exit(await auditCommand(rest, { stdout: written, stderr: (text) => void process.stderr.write(text) }));
  if (command === "doctor")
    process.exit(await doctorCommand(rest, process.env, { stdout: written, stderr: (text) => void process.stderr.write(text) }));
  await start();
}

main(process.argv.slice(2)).catch((error: Error) => {
  const expected = EXPECTED.some((kind) => error instanceof kind);
  process.stderr.write(`gatehouse: ${expected ? error.message : (error.stack ?? error.message)}\n`);
  process.exit(1);
});
