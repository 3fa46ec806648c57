import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Timeouts of tests, hooks and waits, none of which may be a literal number of milliseconds. */
const LIMITS = [
  /^\s*\}\)*, (\d[\d_]+)\);$/m,
  /,\n\s+(\d[\d_]+),\n\s*\);$/m,
  /\b(?:deadline|until) = (?:Date|performance)\.now\(\) \+ (\d[\d_]*)/,
];

const limitOf = (text: string): string | undefined =>
  LIMITS.map((limit) => limit.exec(text)?.[1]).find((value) => value !== undefined && Number(value.replaceAll("_", "")) >= 5_000);

test("no test sets a time limit of its own", async () => {
  const found: string[] = [];
  for (const pattern of ["server/**/*.test.ts", "packages/**/src/**/*.test.ts", "tests/**/*.ts"])
    for await (const path of new Bun.Glob(pattern).scan(ROOT)) {
      const limit = path.includes("node_modules") ? undefined : limitOf(await Bun.file(`${ROOT}/${path}`).text());
      if (limit !== undefined) found.push(`${path}: ${limit} (tests/support/patience.ts has what to take)`);
    }
  expect(found).toEqual([]);
});

test("a literal time limit is found in every form", () => {
  const ms = "30_000";
  const planted = [`test(name, async () => {\n}, ${ms});`, `test(\n  name,\n  work,\n  ${ms},\n);`, `const deadline = Date.now() + ${ms};`];
  expect(planted.map(limitOf)).toEqual([ms, ms, ms]);
});
