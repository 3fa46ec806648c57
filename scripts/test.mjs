import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { BUN_FLAGS, bunEnvironment, findBun } from "../bin/bun.mjs";
import { readJunit } from "./junit.mjs";
import { isWaiting, suitesOf, unknownFiles, writeSeconds } from "./test-plan.mjs";
import { TIMEOUT_MS } from "./test-timeout.mjs";

/**
 * Each suite runs in its own process. As many run at once as there are processors, plus one, because they wait for each other's answers;
 * files that wait most of their time run next to them. `npm test -- PART-OF-PATH... [bun test flags]` runs only matching files. A container
 * may be allowed fewer processors than are reported.
 */
const PROCESSORS = Math.min(4, availableParallelism());
const isEndToEnd = (file) => file.startsWith("tests/");
/** Runs alone: it measures the time a start takes, and what happens within a second. */
const isMeasured = (file) => file === "tests/e2e/operations/process.test.ts";
const AT_ONCE = PROCESSORS + 1;
/** The queues of a round run next to each other. */
const ROUNDS = [
  [
    {
      atOnce: AT_ONCE,
      parts: [
        { name: "unit", takes: (file) => !isEndToEnd(file) },
        { name: "end to end", takes: (file) => isEndToEnd(file) && !isMeasured(file) && !isWaiting(file) },
      ],
    },
    { atOnce: 1, parts: [{ name: "waiting", takes: isWaiting }] },
  ],
  [{ atOnce: 1, parts: [{ name: "starts and stops", takes: isMeasured }] }],
];

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BUN = findBun();
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

/**
 * For test processes, which load the same modules for each file: no optimizing compiler, and memory is kept for the next file. Gateways
 * started by tests/support/gateway.ts run without these, as users' do.
 */
const OF_TEST_PROCESSES = { BUN_JSC_useFTLJIT: "0", MIMALLOC_PURGE_DELAY: "1000" };

/** Tests inherit none of the caller's settings. */
function testEnvironment(databaseUrl) {
  const env = { ...process.env };
  for (const name of Object.keys(env))
    if (name.startsWith("GW_") || name === "DATABASE_URL" || name === "VALKEY_URL" || name === "GATEHOUSE_LAUNCHER_PID") delete env[name];
  return {
    ...env,
    ...OF_TEST_PROCESSES,
    // Tests have as many calls in flight as gateways do.
    BUN_CONFIG_MAX_HTTP_REQUESTS: bunEnvironment().BUN_CONFIG_MAX_HTTP_REQUESTS,
    TEST_DATABASE_URL: databaseUrl,
    TEST_TIMEOUT_MS: String(TIMEOUT_MS),
  };
}

async function startPostgres() {
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

/** Serves the URL of a PostgreSQL that is started when the first test asks for it; most need none. */
async function offerPostgres() {
  if (process.env.DATABASE_URL) return { url: process.env.DATABASE_URL, close: async () => {} };
  let postgres;
  const server = createServer((_request, response) => {
    postgres ??= startPostgres();
    postgres.then(
      ({ url }) => response.end(url),
      (error) => response.writeHead(500).end(error.message),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await postgres?.then(
        ({ close }) => close(),
        () => {},
      );
    },
  };
}

function countsOf(report) {
  return existsSync(report) ? readJunit(readFileSync(report, "utf8")) : undefined;
}

const FILES = ["server", "packages", "tests"]
  .flatMap(testFiles)
  .filter((file) => filters.length === 0 || filters.some((part) => file.includes(part)));

/** The suites of a queue, long ones first. */
function queued({ atOnce, parts }) {
  const suites = parts.flatMap(({ name, takes }) => {
    const those = suitesOf(FILES.filter(takes), atOnce);
    return those.map((suite, at) => ({ ...suite, name: those.length === 1 ? name : `${name}, ${at + 1} of ${those.length}` }));
  });
  return suites.toSorted((a, b) => b.seconds - a.seconds);
}

/** The output of a suite that runs next to others is printed at once when it ends. */
async function runSuite({ name, files }, alone, env, reportFolder) {
  if (interrupted) return { passed: 0, failed: 0, skipped: 0, failures: [] };
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
  // The run stopped before writing its report, or failed outside any test, which no report counts.
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

// Holds all temporary files of the run and is deleted with it. A PostgreSQL running as another user must have access.
const folder = mkdtempSync(join(tmpdir(), "gatehouse-run-"));
chmodSync(folder, 0o711);
process.env.TMPDIR = folder;
// Gateways in tests start from the bundle like users', which takes a third of the time.
if (FILES.some(isEndToEnd)) spawnSync(process.execPath, [join(ROOT, "bin", "build-server.mjs")], { stdio: "inherit" });
const postgres = await offerPostgres();
const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const measured = {};
try {
  for (const round of ROUNDS) {
    const queues = round.map((queue) => ({ atOnce: queue.atOnce, suites: queued(queue) }));
    const alone = queues.flatMap(({ suites }) => suites).length === 1;
    const runQueue = ({ atOnce, suites }) => {
      const runNext = async () => {
        for (let suite = suites.shift(); suite !== undefined; suite = suites.shift()) {
          const counts = await runSuite(suite, alone, testEnvironment(postgres.url), folder);
          for (const key of Object.keys(total)) total[key] += counts[key];
          failures.push(...counts.failures);
          Object.assign(measured, counts.seconds);
        }
      };
      return Promise.all(Array.from({ length: atOnce }, runNext));
    };
    await Promise.all(queues.map(runQueue));
  }
} finally {
  await postgres.close();
  rmSync(folder, { recursive: true, force: true });
}

if (process.env.TEST_SECONDS === "write") writeSeconds(measured);
const problems = [
  interrupted && "interrupted",
  total.passed + total.failed === 0 && "no test ran",
  filters.length === 0 &&
    unknownFiles(FILES)
      .map((file) => `scripts/test-seconds.json lists ${file}, which does not exist`)
      .join("\n"),
  inCi && total.skipped > 0 && "in CI nothing may be skipped",
].filter(Boolean);
// Repeated at the end, because thousands of lines may follow a failure.
for (const failure of failures) process.stdout.write(`\nfailed: ${failure}`);
if (failures.length > 0) process.stdout.write("\n");
for (const problem of problems) process.stdout.write(`\n${problem}\n`);
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
process.exit(total.failed > 0 || problems.length > 0 ? 1 : 0);
