import { expect, test } from "bun:test";
import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { authorizationCache, cachedLookup } from "./authorization-cache.ts";

let now = 0;
const clock = { now: () => now, micros: () => now * 1000 };
type Found = { readonly name: string } | Refusal;

/** A cache with one key, whose lookups are resolved by hand. */
function oneKeyCache() {
  const { documents } = authorizationCache();
  const asked: PromiseWithResolvers<Found>[] = [];
  const find = () => {
    const one = Promise.withResolvers<Found>();
    asked.push(one);
    return one.promise as Promise<never>;
  };
  return { documents, asked, lookUp: () => cachedLookup(documents, "key", clock, 1_000, find) as Promise<Found> };
}

test("concurrent lookups of a key share one request, and a failure is cached for a while", async () => {
  const { asked, lookUp } = oneKeyCache();
  const all = Promise.all([lookUp(), lookUp(), lookUp()]);
  now += 60_000;
  asked[0]?.resolve(refuse("upstream_timeout"));
  expect((await all).map((found) => "code" in found && found.code)).toEqual(["upstream_timeout", "upstream_timeout", "upstream_timeout"]);
  await lookUp();
  expect(asked.length).toBe(1);
  now += 6_000;
  void lookUp();
  expect(asked.length).toBe(2);
});

test("a lookup deleted meanwhile does not restore the old value, and one that threw is repeated", async () => {
  const { documents, asked, lookUp } = oneKeyCache();
  const first = lookUp();
  documents.delete("key");
  const second = lookUp();
  asked[0]?.resolve({ name: "old" });
  asked[1]?.resolve({ name: "new" });
  expect([await first, await second, await lookUp()]).toEqual([{ name: "old" }, { name: "new" }, { name: "new" }]);
  documents.delete("key");
  const third = lookUp();
  asked[2]?.reject(new Error("away"));
  await expect(third).rejects.toThrow("away");
  void lookUp();
  expect(asked.length).toBe(4);
});

test("slow issuers of one tenant leave room for token renewals of other tenants and other issuers", async () => {
  const { renewing } = authorizationCache();
  const renewal = (tenantId: string, issuer: string) => renewing(tenantId, `${tenantId}\n${issuer}`);
  for (let n = 0; n < 49; n++) void renewal("many", "https://slow.example");
  expect(await renewal("many", "https://slow.example")).not.toBeNull();
  for (let n = 0; n < 100; n++) void renewal("many", "https://slow.example");
  expect(await renewal("many", "https://quick.example")).not.toBeNull();
  for (let n = 0; n < 1_000; n++) void renewal("many", `https://slow.example/${n}`);
  expect(await renewal("other", "https://slow.example")).not.toBeNull();
});
