import { compose, type Gateway } from "./compose.ts";
import { auditCommand } from "./cli/audit.ts";
import { ConfigurationError, readConfiguration } from "./kernel/configuration.ts";
import { jsonLog } from "./kernel/log.ts";
import { whenParentGone } from "./runtime/parent.ts";
import { ListenError } from "./runtime/serve.ts";
import { welcome } from "./welcome.ts";
import { DataDirectoryError } from "./store/data-directory.ts";

/** Reasons not to start that need no stack: one line, exit code 1. */
const EXPECTED = [ConfigurationError, ListenError, DataDirectoryError];

async function start(): Promise<void> {
  const config = readConfiguration(process.env);
  const log = jsonLog(config.logLevel);
  const stopped = stopSignal();
  const gateway = await compose(config, process.env, log);
  process.stdout.write(welcome(gateway, config));
  await stopped;
  await stop(gateway);
}

/** Resolves with the first request to stop. A second Ctrl-C does not wait for calls in flight. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const ask = () => {
      if (asked) process.exit(130);
      asked = true;
      resolve();
    };
    process.on("SIGINT", ask);
    process.on("SIGTERM", () => {
      asked = true;
      resolve();
    });
    process.on("SIGHUP", () => {
      asked = true;
      resolve();
    });
    whenParentGone(() => {
      asked = true;
      resolve();
    });
  });
}

async function stop(gateway: Gateway): Promise<void> {
  process.stdout.write("Stopping: calls in flight may finish.\n");
  await gateway.stop();
  process.stdout.write("Stopped. Every call has its audit row.\n");
  process.exit(0);
}

/** Resolves when the pipe has taken the text: an export must not be cut off by the exit after it. */
function written(text: string): Promise<void> {
  return new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve())));
}

async function main([command = "start", ...rest]: string[]): Promise<void> {
  if (command === "audit") process.exit(await auditCommand(rest, { stdout: written, stderr: (text) => void process.stderr.write(text) }));
  await start();
}

main(process.argv.slice(2)).catch((error: Error) => {
  const expected = EXPECTED.some((kind) => error instanceof kind);
  process.stderr.write(`gatehouse: ${expected ? error.message : (error.stack ?? error.message)}\n`);
  process.exit(1);
});
