import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";

/** Of those PostgreSQL 15 has, the ones we set. A newer one has to be asked for before it is set. */
const KNOWN = ["enable_bitmapscan", "enable_seqscan", "enable_sort", "lock_timeout", "plan_cache_mode", "work_mem"];

test("no statement sets what the oldest PostgreSQL we promise to run on does not know", () => {
  const server = new URL("../", import.meta.url);
  const sources = (readdirSync(server, { recursive: true }) as string[]).filter((path) => /(?<!\.test)\.ts$|\.sql$/.test(path));
  const named = sources.flatMap((path) => [...readFileSync(new URL(path, server), "utf8").matchAll(/\bSET LOCAL (\w+)/g)].map((match) => match[1] as string));
  expect([...new Set(named)].sort()).toEqual(KNOWN);
});
