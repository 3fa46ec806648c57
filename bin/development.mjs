import { watch } from "node:fs";
import { fileURLToPath } from "node:url";

const WATCHED = ["server", "packages"];
const SOURCE = /\.(ts|sql|json)$/;
/** Debounce: an editor writes a file in several steps, and a checkout writes many files. */
const QUIET_MS = 100;

/**
 * Keeps one child running. After a change, stops it with SIGTERM, so that it drains and seals as in production, and starts the next only
 * once it is gone: two at once would compete for the ports and the data directory.
 */
export function restartOnChange({ start, forwardSignals, end }) {
  let child;
  let restarting = false;
  let ending = false;
  let quiet;

  const launch = () => {
    restarting = false;
    child = start();
    child.on("exit", (code, signal) => {
      child = undefined;
      if (ending) return end(code, signal);
      if (restarting) return launch();
      process.stderr.write(`gatehouse dev: ended with ${signal ?? code}; waiting for a change\n`);
    });
  };

  const changed = () => {
    if (ending) return;
    if (child === undefined) return launch();
    if (restarting) return;
    restarting = true;
    process.stderr.write("gatehouse dev: source changed, restarting\n");
    child.kill("SIGTERM");
  };

  for (const folder of WATCHED) {
    watch(fileURLToPath(new URL(`../${folder}`, import.meta.url)), { recursive: true }, (_event, file) => {
      if (file === null || !SOURCE.test(file) || /\.test\.ts$|node_modules/.test(file)) return;
      clearTimeout(quiet);
      quiet = setTimeout(changed, QUIET_MS);
    });
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      ending = true;
      if (child === undefined) end(0, null);
    });
  }
  forwardSignals(() => child);
  launch();
}
