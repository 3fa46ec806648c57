import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { uuid } from "../../kernel/ids.ts";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { claimSpans, pruneSpanClaims, releaseSpans } from "./span-claims.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const SPANS = Array.from({ length: 3_000 }, (_, at) => ({ traceId: "t", spanId: String((at * 7_919) % 3_000).padStart(4, "0") }));

test("concurrent claims and releases of the same spans wait for each other, and none fails", async () => {
  const one = async () => {
    const owner = uuid();
    for (let round = 0; round < 4; round++) {
      const claimed = await claimSpans(database.db, "default", owner, SPANS);
      await releaseSpans(database.db, "default", owner, claimed.toReversed());
    }
  };
  expect(await Promise.all([one(), one(), one(), one()])).toHaveLength(4);
});

test("a claim belongs to its owner until it is released or too old, and is pruned in the end", async () => {
  const [spans, first, second] = [SPANS.slice(0, 2), uuid(), uuid()];
  const claim = async (owner: string) => (await claimSpans(database.db, "default", owner, spans)).length;
  expect([await claim(first), await claim(second), await claim(first)]).toEqual([2, 0, 2]);
  await releaseSpans(database.db, "default", second, spans);
  expect(await claim(second)).toBe(0);
  await releaseSpans(database.db, "default", first, spans.slice(0, 1));
  expect(await claim(second)).toBe(1);
  await sql`UPDATE span_claims SET claimed_at = claimed_at - interval '11 seconds'`.execute(database.db);
  expect(await claim(second)).toBe(2);
  await sql`UPDATE span_claims SET claimed_at = claimed_at - interval '11 minutes'`.execute(database.db);
  await pruneSpanClaims(database.db);
  expect((await sql`SELECT FROM span_claims`.execute(database.db)).rows).toHaveLength(0);
});
