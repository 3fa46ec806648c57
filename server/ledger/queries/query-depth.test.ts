import { expect, test } from "bun:test";
import { sql, type KyselyPlugin } from "kysely";
import { testDatabase } from "../../../tests/support/database.ts";
import { queryRows } from "./query.ts";

const ROWS = 25_000;

test("a page far back is read without loading the rows before it", async () => {
  const database = await testDatabase();
  await sql`INSERT INTO audit_rows (id, tenant_id, timestamp, http_status_code) SELECT '01' || lpad(i::text, 24, '0'), 't', now(), 200 + i % 2 FROM generate_series(1, ${ROWS}::int) AS i`.execute(
    database.db,
  );
  let most = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      most = Math.max(most, result.rows.length);
      return result;
    },
  };
  const db = database.db.withPlugin(counting);
  const guardedAt = async (query: Parameters<typeof queryRows>[1]) => {
    const { rows, total } = await queryRows(db, query, { bodies: false });
    return { places: rows.map(({ id }) => Number((id as string).slice(2))), total };
  };
  const pages = [
    [{ page: 121, page_size: 200 }, 1_000, 801],
    [{ page: 121, page_size: 200, order: "asc" }, 24_001, 24_200],
    [{ page: 61, page_size: 200, filters: { http_status_code: 201 } }, 999, 601],
  ] as const;
  for (const [query, first, last] of pages) {
    const { places, total } = await guardedAt(query);
    expect([places.length, places[0], places.at(-1)]).toEqual([200, first, last]);
    expect(total).toBe(query.page * query.page_size + 1);
  }
  expect(await guardedAt({ page: 125, page_size: 200 })).toMatchObject({ total: ROWS });
  expect(await guardedAt({ page: 1_000_000, page_size: 200 })).toEqual({ places: [], total: ROWS });
  expect(most).toBeLessThanOrEqual(10_000);
  await database.close();
});
