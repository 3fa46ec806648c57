import { expect, test } from "bun:test";
import { until } from "../../tests/support/until.ts";
import { systemClock } from "../kernel/clock.ts";
import type { Database } from "../store/database.ts";
import { EndUserCache } from "./end-user-cache.ts";

/** A database that answers when told to. */
function world() {
  const reads: PromiseWithResolvers<object>[] = [];
  const executeQuery = () => {
    const read = Promise.withResolvers<object>();
    reads.push(read);
    return read.promise;
  };
  const executor = { transformQuery: (node: unknown) => node, compileQuery: () => ({}), executeQuery };
  const db = { getExecutor: () => executor } as unknown as Database;
  return { cache: new EndUserCache(db, systemClock()), reads, finds: (name: string) => ({ rows: [{ username: name }] }) };
}

test("a lookup of an end user is not restarted when another user changes", async () => {
  const { cache, reads, finds } = world();
  const found = cache.find("acme", "ada");
  cache.drop("acme", "grace");
  cache.drop("other", null);
  expect(cache.find("acme", "ada")).toBe(found);
  reads[0]?.resolve(finds("ada"));
  expect([(await found)?.username, reads.length]).toEqual(["ada", 1]);
});

test.each([
  ["that user", (cache: EndUserCache) => cache.drop("acme", "ada")],
  ["the whole tenant", (cache: EndUserCache) => cache.drop("acme", null)],
  ["all tenants", (cache: EndUserCache) => cache.dropAll()],
])("a lookup of an end user includes a change of %s made during the lookup", async (_who, drop) => {
  const { cache, reads, finds } = world();
  const found = Promise.resolve(cache.find("acme", "ada"));
  drop(cache);
  const late = Promise.resolve(cache.find("acme", "ada"));
  reads[0]?.resolve(finds("before"));
  await until(
    () => reads.length,
    (begun) => begun > 1,
  );
  for (const read of reads.slice(1)) read.resolve(finds("after"));
  expect([(await found)?.username, (await late)?.username]).toEqual(["after", "after"]);
  expect(await cache.find("acme", "ada")).toMatchObject({ username: "after" });
});
