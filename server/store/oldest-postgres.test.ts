import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";

/** Settings of PostgreSQL 15 that we use. Code must check for a newer one before setting it. */
const KNOWN = [
  ...["DateStyle", "IntervalStyle", "TimeZone", "bytea_output", "enable_bitmapscan", "enable_seqscan", "enable_sort"],
  ...["extra_float_digits", "jit", "lock_timeout", "plan_cache_mode", "statement_timeout", "work_mem"],
];
/** Set only if a pgvector index was found. */
const OF_EXTENSIONS = ["hnsw.ef_search"];

const SERVER = new URL("../", import.meta.url);
const texts = (readdirSync(SERVER, { recursive: true }) as string[])
  .filter((path) => /(?<!\.test)\.ts$|\.sql$/.test(path))
  .map((path) => readFileSync(new URL(path, SERVER), "utf8"));

test("SET LOCAL uses only settings known to the oldest supported PostgreSQL", () => {
  const named = texts.flatMap((text) => [...text.matchAll(/\bSET LOCAL ([\w.]+)/g)].map((match) => match[1] as string));
  expect([...new Set(named)].sort()).toEqual([...KNOWN, ...OF_EXTENSIONS].sort());
});

test("every statement that disables a scan type also disables JIT, which it would trigger before PostgreSQL 18", () => {
  const ruling = texts.flatMap((text) => text.split("\n").filter((line) => line.includes("SET LOCAL enable_")));
  expect(ruling.length).toBeGreaterThan(2);
  expect(ruling.filter((line) => !line.includes("SET LOCAL jit = off"))).toEqual([]);
});
