import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const OLDEST_NODE = 20;
if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `gatehouse: Node.js ${process.versions.node} is too old: install Node.js ${OLDEST_NODE} or newer, then run npm ci again\n`,
  );
  process.exit(1);
}

/**
 * Builds the pages and the server concurrently. Each puts its result in place as a whole, so a failure of one does not affect the other.
 */
const bundling = spawn(process.execPath, [fileURLToPath(new URL("./build-server.mjs", import.meta.url))], { stdio: "inherit" });
bundling.on("exit", (code) => {
  if (code !== 0) process.exitCode = 1;
});
await import("../web/kit/build/build-pages.mjs");
