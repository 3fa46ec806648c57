import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { BUN_FLAGS, bunEnvironment, findBun } from "../bin/bun.mjs";
import { readJunit } from "./junit.mjs";

/**
 * Each suite is a process of its own. Those of one round run side by side: unit tests need one processor and wait for
 * nothing, the others wait half of their time. `npm test -- PART-OF-PATH... [bun test flags]` runs only the files that match.
 */
const isGovernance = (file) => /^server\/(?:road|controls|services)\//.test(file);
const isEndToEnd = (file) => file.startsWith("tests/e2e/");
/** Measures how long starts take. */
const isMeasured = (file) => file === "tests/e2e/process.test.ts";
const isOfPeopleOrTools = (file) => /^tests\/e2e\/(?:mcp|portal|oauth|python)/.test(file);
const ROUNDS = [
  [
    { name: "unit, road, controls and services", folders: ["server"], takes: isGovernance },
    { name: "unit, all else", folders: ["server", "packages"], takes: (file) => !isGovernance(file) },
  ],
  [
    { name: "end to end, people and tools", folders: ["tests"], takes: isOfPeopleOrTools },
    {
      name: "end to end, all else",
      folders: ["tests"],
      takes: (file) => isEndToEnd(file) && !isOfPeopleOrTools(file) && !isMeasured(file),
    },
    { name: "faults, conformance and inventory", folders: ["tests"], takes: (file) => !isEndToEnd(file) },
  ],
  [{ name: "starts and stops", folders: ["tests"], takes: isMeasured }],
];

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BUN = findBun();
/** Finds what hangs. What is merely slow on a loaded machine must pass. */
const TIMEOUT_MS = 120_000;
const inCi = process.env.CI === "true";

const flagsAt = process.argv.findIndex((argument, at) => at > 1 && argument.startsWith("-"));
const filters = process.argv.slice(2, flagsAt === -1 ? undefined : flagsAt);
const flags = flagsAt === -1 ? [] : process.argv.slice(flagsAt);

const running = new Set();
let interrupted = false;

function start(args, options) {
  const child = spawn(BUN, [...BUN_FLAGS, ...args], { cwd: ROOT, ...options });
  running.add(child);
  child.on("exit", () => running.delete(child));
  return child;
}

function testFiles(folder) {
  const found = [];
  for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory() && entry.name !== "node_modules") found.push(...testFiles(path));
    else if (/\.test\.tsx?$/.test(entry.name)) found.push(path);
  }
  return found.sort();
}

/** The tests get none of the settings of whoever runs them. */
function testEnvironment(databaseUrl) {
  const env = bunEnvironment();
  for (const name of Object.keys(env))
    if (name.startsWith("GW_") || name === "DATABASE_URL" || name === "VALKEY_URL" || name === "GATEHOUSE_LAUNCHER_PID") delete env[name];
  return { ...env, TEST_DATABASE_URL: databaseUrl };
}

async function openPostgres() {
  if (process.env.DATABASE_URL) return { url: process.env.DATABASE_URL, close: async () => {} };
  const child = start([join(ROOT, "scripts", "throwaway-postgres.ts")], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  for await (const url of createInterface({ input: child.stdout })) {
    return {
      url,
      close() {
        child.stdin.end();
        return ended;
      },
    };
  }
  throw new Error("the throwaway PostgreSQL did not start");
}

function countsOf(report) {
  return existsSync(report) ? readJunit(readFileSync(report, "utf8")) : undefined;
}

const filesOf = ({ folders, takes }) =>
  folders.flatMap(testFiles).filter((file) => takes(file) && (filters.length === 0 || filters.some((part) => file.includes(part))));

/** What a suite beside another prints is shown when it has ended, in one piece. */
async function runSuite({ name, files }, alone, env, reportFolder) {
  if (files.length === 0 || interrupted) return { passed: 0, failed: 0, skipped: 0, failures: [] };
  const title = `\n${name}: ${files.length} ${files.length === 1 ? "file" : "files"}\n`;
  if (alone) process.stdout.write(title);
  const report = join(reportFolder, `${name}.xml`);
  const child = start(
    ["test", `--timeout=${TIMEOUT_MS}`, "--reporter=junit", `--reporter-outfile=${report}`, ...flags, ...files.map((file) => `./${file}`)],
    { stdio: alone ? "inherit" : ["inherit", "pipe", "pipe"], env },
  );
  const printed = [];
  child.stdout?.on("data", (piece) => printed.push(piece));
  child.stderr?.on("data", (piece) => printed.push(piece));
  const code = await new Promise((resolve) => child.on("close", (exit, signal) => resolve(signal ?? exit)));
  if (!alone) process.stdout.write(`${title}${Buffer.concat(printed)}`);
  const counts = countsOf(report);
  // The run broke off before its report, or something failed outside any test: no report counts that.
  if (counts === undefined) return { passed: 0, failed: 1, skipped: 0, failures: [`${name}: ended (${code}) without a report`] };
  if (code !== 0 && counts.failed === 0) return { ...counts, failed: 1, failures: [`${name}: ended (${code}), with every test passed`] };
  return counts;
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    interrupted = true;
    for (const child of running) {
      if (child.stdin) child.stdin.end();
      else child.kill("SIGTERM");
    }
  });
}

// Everything temporary of the run is in here, and goes with it. A PostgreSQL user other than ours must get through.
const folder = mkdtempSync(join(tmpdir(), "gatehouse-run-"));
chmodSync(folder, 0o711);
process.env.TMPDIR = folder;
const postgres = await openPostgres();
const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
try {
  for (const round of ROUNDS) {
    const suites = round.map((suite) => ({ name: suite.name, files: filesOf(suite) })).filter(({ files }) => files.length > 0);
    for (const counts of await Promise.all(
      suites.map((suite) => runSuite(suite, suites.length === 1, testEnvironment(postgres.url), folder)),
    )) {
      for (const key of Object.keys(total)) total[key] += counts[key];
      failures.push(...counts.failures);
    }
  }
} finally {
  await postgres.close();
  rmSync(folder, { recursive: true, force: true });
}

const problems = [
  interrupted && "interrupted",
  total.passed + total.failed === 0 && "no test ran",
  inCi && total.skipped > 0 && "in CI nothing may be skipped",
].filter(Boolean);
// Named at the end too: thousands of lines stand between a failure and the last one.
for (const failure of failures) process.stdout.write(`\nfailed: ${failure}`);
if (failures.length > 0) process.stdout.write("\n");
for (const problem of problems) process.stdout.write(`\n${problem}\n`);
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
process.exit(total.failed > 0 || problems.length > 0 ? 1 : 0);
