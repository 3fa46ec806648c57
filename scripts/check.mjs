import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUN_FLAGS, bunEnvironment, findBun } from "../bin/bun.mjs";
import { TIMEOUT_MS } from "./test-timeout.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const local = (name) => join(ROOT, "node_modules", ".bin", name);

/** The type and dead-code checks cache their results in node_modules/.cache, so a second run only looks at changes. */
const CHECKS = [
  { name: "types", command: local("tsc"), args: ["-p", "."] },
  { name: "types of web", command: local("tsc"), args: ["-p", "web"] },
  { name: "format", command: local("oxfmt"), args: ["--check"] },
  { name: "lint", command: local("oxlint"), args: ["--deny-warnings"] },
  { name: "unused", command: local("knip"), args: ["--no-progress", "--cache"] },
  {
    name: "architecture",
    command: findBun(),
    args: [...BUN_FLAGS, "test", `--timeout=${TIMEOUT_MS}`, "--only-failures", "./server/architecture.test.ts"],
  },
];

function run({ name, command, args }) {
  const began = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, env: bunEnvironment(), stdio: ["ignore", "pipe", "pipe"] });
    const output = [];
    child.stdout.on("data", (piece) => output.push(piece));
    child.stderr.on("data", (piece) => output.push(piece));
    child.on("error", (error) => output.push(Buffer.from(`${error.message}\n`)));
    child.on("close", (code) => {
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      process.stdout.write(`${code === 0 ? "ok  " : "FAIL"} ${name.padEnd(12)} ${seconds.padStart(5)} s\n`);
      resolve({ name, ok: code === 0, output: Buffer.concat(output).toString("utf8") });
    });
  });
}

const failures = (await Promise.all(CHECKS.map(run))).filter(({ ok }) => !ok);
for (const { name, output } of failures) process.stdout.write(`\n--- ${name}\n${output.trimEnd()}\n`);
process.exitCode = failures.length > 0 ? 1 : 0;
