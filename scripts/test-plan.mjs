import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** Seconds that test files took in a full run, where it was long. `TEST_SECONDS=write npm test` measures them again. */
const SECONDS = new URL("test-seconds.json", import.meta.url);
const LISTED_FROM = 8;
const { waiting, seconds } = JSON.parse(readFileSync(SECONDS, "utf8"));

/** Average of the files that are not listed. */
const secondsOf = (file) => seconds[file] ?? (file.startsWith("tests/") ? 4 : 0.6);
const MIN_SECONDS = 40;

/** Whether it waits most of its time, for example until something expires, and leaves the processors to others. */
export const isWaiting = (file) => waiting.includes(file);

/** Listed files that do not exist. */
export const unknownFiles = (files) => [...waiting, ...Object.keys(seconds)].filter((file) => !files.includes(file));

/**
 * Divides files into suites, of which `atOnce` run at once. A suite takes a share of the work that is left when it starts, so the last ones
 * are short and all end at about the same time.
 */
export function suitesOf(files, atOnce) {
  const suites = [];
  for (let left = files.reduce((sum, file) => sum + secondsOf(file), 0); left > 0;) {
    const share = Math.max(MIN_SECONDS, left / (3 * atOnce));
    suites.push({ files: [], room: share });
    left -= share;
  }
  for (const file of files.toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
    const widest = suites.reduce((a, b) => (b.room > a.room ? b : a));
    widest.files.push(file);
    widest.room -= secondsOf(file);
  }
  const filled = suites.filter((suite) => suite.files.length > 0);
  return filled.map((suite) => ({ files: suite.files.toSorted(), seconds: suite.files.reduce((sum, file) => sum + secondsOf(file), 0) }));
}

/** `measured`: seconds by file. */
export function writeSeconds(measured) {
  const others = Object.entries(seconds).filter(([file]) => existsSync(new URL(`../${file}`, import.meta.url)));
  const long = Object.entries({ ...Object.fromEntries(others), ...measured }).filter(([, taken]) => taken >= LISTED_FROM);
  const listed = Object.fromEntries(long.toSorted().map(([file, taken]) => [file, Math.round(taken)]));
  writeFileSync(SECONDS, `${JSON.stringify({ waiting, seconds: listed }, null, 2)}\n`);
}
