import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readArguments, USAGE } from "./arguments.ts";
import { runBenchmark } from "./benchmark.ts";
import { selectCases } from "./cases/catalogue.ts";
import { pin } from "./processes/placement.ts";
import { stopAll } from "./processes/registry.ts";
import { removeScratch } from "./processes/scratch.ts";
import { compareWithBaseline, readBaseline, recordFigures } from "./report/baseline.ts";
import { peersPage } from "./report/peers-page.ts";
import { machineLine } from "./report/machine.ts";

/** `npm run bench`: starts everything, measures, compares with the baseline, stops everything. */

const PEERS_PAGE = fileURLToPath(new URL("../docs/peers.md", import.meta.url));

const LIMIT_MS = 320_000;
/** After this many milliseconds the run counts as stuck and ends. */
const STUCK_MS = 340_000;

let ending: Promise<void> | undefined;
function end(code: number): Promise<void> {
  ending ??= stopAll(code > 128 ? 5_000 : 15_000).then(() => {
    removeScratch();
    process.exit(code);
  });
  return ending;
}

async function main(): Promise<number> {
  const options = readArguments(process.argv.slice(2));
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  if (process.platform !== "linux") throw new Error("the benchmark reads /proc and runs on Linux only");
  const cases = await selectCases(options.cases);
  if (options.pin) pin();

  const machine = machineLine();
  console.log(`${machine}${options.pin ? ", pinned" : ""}${options.quick ? ", quick: no figures to quote" : ""}`);
  const { results, failures } = await runBenchmark(cases, options, Date.now() + LIMIT_MS);

  const date = new Date().toISOString().slice(0, 10);
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify({ date, machine, options, results, failures }, null, 2)}\n`);
  // An incomplete table would still be quoted.
  if (options.peers && !options.quick && failures.length === 0) writeFileSync(PEERS_PAGE, peersPage(results, date, machine));
  // The baseline is only about Gatehouse.
  const verdicts = options.targets.includes("gatehouse") ? compareWithBaseline(results, readBaseline()) : [];
  if (options.record) recordFigures(results, date, machine);
  console.log("");
  for (const { line } of verdicts) console.log(line);
  for (const line of failures) console.log(`FAIL  ${line}`);
  return failures.length > 0 || verdicts.some(({ pass }) => !pass) ? 1 : 0;
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)
  process.on(signal, () => void end(code));
setTimeout(() => {
  console.log("FAIL  the run took too long and was stopped");
  void end(1);
}, STUCK_MS).unref();

main().then(end, (error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return end(1);
});
