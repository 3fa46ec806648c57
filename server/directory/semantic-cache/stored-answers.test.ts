import { afterAll, beforeAll, expect, test } from "bun:test";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { migrate } from "../../store/migrate.ts";
import { pruneAnswers } from "../../store/models/semantic-cache-entries.ts";
import { type NewAnswer, StoredAnswers } from "./stored-answers.ts";

const CONFIG = { acme: "00000000-0000-4000-8000-000000000001", beta: "00000000-0000-4000-8000-000000000002" };
const GENERATION = "00000000-0000-4000-8000-00000000000a";

let database: TestDatabase;
let now = Date.parse("2026-11-21T12:00:00Z");
let stored: StoredAnswers;
const of = (tenantId: keyof typeof CONFIG) => ({ tenantId, configId: CONFIG[tenantId] });

beforeAll(async () => {
  database = await testDatabase();
  await migrate(database.db);
  for (const id of ["acme", "beta"] as const) {
    await database.db
      .insertInto("tenants")
      .values({
        id,
        name: id,
        display_name: null,
        data_retention: JSON.stringify({ store_bodies: "none", body_days: 1, log_days: 1, run_days: 1 }),
        default_judge_model_id: null,
      })
      .execute();
    await database.db
      .insertInto("semantic_cache_configs")
      .values({
        id: CONFIG[id],
        tenant_id: id,
        name: "c",
        exact_match: "{}",
        semantic_match: "{}",
        embedding_model_id: null,
        generation: GENERATION,
      })
      .execute();
  }
  stored = new StoredAnswers(database.db, { now: () => now, micros: () => now * 1000 });
});
afterAll(() => database.close());

let count = 0;
function answer(given: Partial<NewAnswer> = {}): NewAnswer {
  const id = `entry-${String(++count).padStart(4, "0")}`;
  return {
    id,
    at: now,
    exactKey: id,
    modelId: crypto.randomUUID(),
    modelName: "m",
    answer: { said: id },
    tokens: 7,
    callId: `call-${count}`,
    endUserId: null,
    apiKeyId: null,
    exactTtl: 60,
    semantic: { space: "s", vector: Int8Array.of(1, -2, 3), ttl: 120 },
    ...given,
  };
}
const store = async (given: Partial<NewAnswer> = {}, generation = GENERATION) => {
  const made = answer(given);
  await stored.store(of("acme"), generation, made);
  return made;
};

test("a cached answer is found by its key until it expires, and by no other tenant", async () => {
  const { exactKey, id } = await store();
  expect(await stored.byKey(of("acme"), exactKey)).toMatchObject({
    answer: { said: id },
    modelName: "m",
    tokens: 7,
    storedAt: now,
    until: now + 60_000,
  });
  expect(await stored.byKey(of("beta"), exactKey)).toBeNull();
  expect(await stored.byKey({ tenantId: "beta", configId: CONFIG.acme }, exactKey)).toBeNull();
  now += 60_000;
  expect(await stored.byKey(of("acme"), exactKey)).toBeNull();
});

test("a cached answer's vector is found in its vector space, with an expiry of its own, newest first", async () => {
  const [first, second] = [
    await store({ semantic: { space: "t", vector: Int8Array.of(1, 2), ttl: 100 } }),
    await store({ semantic: { space: "t", vector: Int8Array.of(-128, 127), ttl: 200 } }),
  ];
  expect((await stored.vectors(of("acme"), "t", "", 10)).map(({ id, vector }) => [id, ...vector])).toEqual([
    [second.id, -128, 127],
    [first.id, 1, 2],
  ]);
  expect((await stored.vectors(of("acme"), "t", first.id, 10)).map(({ id }) => id)).toEqual([second.id]);
  expect(await stored.vectors(of("acme"), "t", "", 1)).toHaveLength(1);
  expect(await stored.vectors(of("beta"), "t", "", 10)).toEqual([]);
  now += 100_000;
  const [left, gone] = await stored.vectors(of("acme"), "t", "", 10);
  expect([left?.id, gone]).toEqual([second.id, undefined]);
  expect((await stored.byId(of("acme"), left as NonNullable<typeof left>))?.answer).toEqual({ said: second.id });
});

test("a newer answer to the same request replaces the older one", async () => {
  await store({ exactKey: "same" });
  const { id } = await store({ exactKey: "same" });
  expect((await stored.byKey(of("acme"), "same"))?.answer).toEqual({ said: id });
});

test("an answer requested before the cache was cleared is not stored", async () => {
  const { exactKey } = await store({}, crypto.randomUUID());
  expect(await stored.byKey(of("acme"), exactKey)).toBeNull();
});

test("expired answers are pruned", async () => {
  await database.db
    .updateTable("semantic_cache_entries")
    .set({ exact_until: new Date(0), semantic_until: null })
    .where("exact_key", "=", "same")
    .execute();
  const left = async () =>
    (await database.db.selectFrom("semantic_cache_entries").select("id").where("exact_key", "=", "same").execute()).length;
  expect(await left()).toBe(1);
  await stored.prune();
  await stored.prune();
  expect(await left()).toBe(0);
});

test("the oldest answers are pruned if a configuration has too many", async () => {
  const all = () =>
    database.db.selectFrom("semantic_cache_entries").select("id").where("config_id", "=", CONFIG.beta).orderBy("id").execute();
  await database.db.updateTable("semantic_cache_configs").set({ generation: GENERATION }).where("tenant_id", "=", "beta").execute();
  for (let i = 0; i < 3; i++) await stored.store(of("beta"), GENERATION, answer({ exactTtl: 100_000_000 }));
  const [first, ...rest] = await all();
  await pruneAnswers(database.db, 2);
  expect([first !== undefined, await all()]).toEqual([true, rest]);
});
