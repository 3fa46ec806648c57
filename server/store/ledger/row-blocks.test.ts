import { afterAll, beforeAll, expect, test } from "bun:test";
import { FIELD_NAMES, FIELDS, type AuditRow, type FieldName } from "@gatehouse/ledger-format/fields";
import fc from "fast-check";
import { sql, type RawBuilder } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { LONG_TEST_MS } from "../../../tests/support/patience.ts";
import { until } from "../../../tests/support/until.ts";
import { isoMicros } from "../../kernel/clock.ts";
import { ulid } from "../../kernel/ids.ts";
import { queryRows } from "../../ledger/queries/query.ts";
import { callRow, temporaryDirectory, testLedger } from "../../ledger/test-support.ts";
import { reduceRows } from "./audit-retention.ts";
import { eraseSubject } from "../people/erasure.ts";
import { describeRows } from "./row-blocks.ts";
import { ABSENT_HASH, LOOKED_UP } from "./row-lookups.ts";

const SIZES = { block: 40, zone: 6 };
const TENANTS = ["5f0c6f0e-8f2b-4d57-9d7c-0d9b6f0c6f0e", "6f0c6f0e-8f2b-4d57-9d7c-0d9b6f0c6f0e"] as const;
const START = Date.now() - 3_600_000;

let database: TestDatabase;
let rows: AuditRow[] = [];

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A ULID for a given time, which may be earlier than that of ULIDs made before. */
function idAt(ms: number): string {
  let time = "";
  for (let rest = ms; time.length < 10; rest = Math.floor(rest / 32)) time = `${DIGITS[rest % 32]}${time}`;
  return time + ulid().slice(10);
}

/** Rows whose values are common, rare, or unique. */
function rowAt(i: number, seconds = i): AuditRow {
  const at = START + seconds * 1_000;
  return callRow({
    id: idAt(Math.floor(at)),
    tenant_id: i % 29 === 3 ? null : TENANTS[i % 7 === 0 ? 1 : 0],
    timestamp: isoMicros(Math.floor(at * 1_000) + i),
    http_status_code: i % 50 === 9 ? 429 : 200,
    success: i % 50 !== 9,
    llm_temperature: i % 3 === 0 ? null : (i % 4) / 10,
    correlation_id: `c-${i}`,
    guardrail_check: i === 17 ? "pii" : null,
    api_key_id: i % 90 === 5 ? null : `key-${i % 11}`,
    tags: i % 60 === 8 ? ["late", `t${i}`] : null,
    custom_metadata: i % 40 === 2 ? { attempts: 2.5, of: "it", deep: { x: 1 } } : null,
    duration_ms: i,
    idp_user_email: i % 40 === 4 ? "ann@example.com" : null,
    root_task_id: `run-${i % 70}`,
    request_headers: { "content-type": "application/json", "user-agent": `client/${i % 5}`, "x-call": `${i}` },
    response_headers: i % 45 === 6 ? null : { "content-type": i % 60 === 7 ? "text/event-stream" : "application/json" },
  });
}

beforeAll(async () => {
  database = await testDatabase();
  const ledger = await testLedger(database.db, temporaryDirectory());
  for (let i = 0; i < 230; i++) await ledger.seal(rowAt(i));
  await ledger.shipped();
  while ((await describeRows(database.db, new Date(), SIZES)) > 0);
  // Rows of calls that began before their block was closed, and rows above and below all blocks.
  for (let i = 230; i < 250; i++) await ledger.seal(rowAt(i, i - 130.5));
  for (let i = 250; i < 260; i++) await ledger.seal(rowAt(i));
  for (let i = 260; i < 265; i++) await ledger.seal(rowAt(i, -i));
  await ledger.close();
  rows = (await sql<AuditRow>`SELECT * FROM audit_rows ORDER BY id`.execute(database.db)).rows;
});
afterAll(() => database.close());

const SEARCHED = FIELD_NAMES.filter((name) => !name.endsWith("_preview"));

/** What the database finds by scanning every row. */
async function scannedIds(field: FieldName, value: unknown, tenant: string | undefined): Promise<string[]> {
  const column = sql.ref(field);
  const { type } = FIELDS[field];
  const is =
    value === null
      ? sql`${column} IS NULL`
      : type === "json"
        ? sql`${column} @> ${JSON.stringify(value)}::text::jsonb`
        : sql`${column} = ${value}`;
  const { rows: found } = await sql<{
    id: string;
  }>`SELECT id FROM audit_rows WHERE ${is} AND (${tenant ?? null}::text IS NULL OR tenant_id = ${tenant ?? null}) ORDER BY id DESC`.execute(
    database.db,
  );
  return found.map((row) => row.id);
}

async function queried(
  field: FieldName,
  value: unknown,
  tenant: string | undefined,
  order: "asc" | "desc",
): Promise<{ ids: string[]; total: number }> {
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const found = await queryRows(
      database.db,
      { filters: { [field]: value }, tenant_id: tenant, order, page, page_size: 100 },
      { bodies: false },
    );
    ids.push(...found.rows.map((row) => row.id as string));
    if (found.rows.length < 100) return { ids, total: found.total };
  }
}

const OTHER = {
  text: "nowhere",
  integer: 123_456_789,
  number: 0.123456,
  boolean: true,
  timestamp: "2020-01-01T00:00:00.000000Z",
  json: "nowhere",
} as const;

test("blocks cover most rows, and some rows are outside of them", async () => {
  const { rows: blocks } = await sql<{
    blocks: number;
    filled: number;
  }>`SELECT count(*) AS blocks, count(*) FILTER (WHERE filled) AS filled FROM audit_blocks`.execute(database.db);
  expect(blocks[0]?.filled).toBe(blocks[0]?.blocks as number);
  expect(blocks[0]?.blocks).toBeGreaterThanOrEqual(5);
  const { rows: late } = await sql<{ late: number }>`SELECT count(*) AS late FROM audit_late_rows`.execute(database.db);
  expect(late[0]?.late).toBeGreaterThanOrEqual(20);
});

test(
  "a query by any field equals a scan of every row, for common, rare, missing and unused values",
  async () => {
    const wrong: string[] = [];
    let turn = 0;
    for (const field of SEARCHED) {
      const values = new Map<string, unknown>([
        ["null", null],
        ["other", OTHER[FIELDS[field].type]],
      ]);
      for (const row of [rows[17], rows[101]]) {
        const value = row?.[field] as unknown;
        const plain = value instanceof Date ? null : value;
        values.set(JSON.stringify(plain), plain ?? null);
      }
      for (const value of values.values()) {
        turn++;
        const tenant = turn % 3 === 0 ? TENANTS[1] : undefined;
        const order = turn % 2 === 0 ? "asc" : "desc";
        const wanted = await scannedIds(field, value, tenant);
        const found = await queried(field, value, tenant, order);
        if (JSON.stringify(found.ids) !== JSON.stringify(order === "desc" ? wanted : wanted.toReversed()))
          wrong.push(`${field} = ${JSON.stringify(value)} of ${tenant} ${order}`);
      }
    }
    expect(wrong).toEqual([]);
  },
  LONG_TEST_MS,
);

test("queries by parts of lists and objects, by several fields and by time range find the right rows", async () => {
  const ids = async (filters: Record<string, unknown>, window: { from?: string; to?: string } = {}) =>
    (await queryRows(database.db, { filters, ...window, page_size: 200 }, { bodies: false })).rows
      .map((row) => row.duration_ms)
      .sort((a, b) => (a as number) - (b as number));
  expect(await ids({ tags: "t68" })).toEqual([68]);
  expect(await ids({ tags: ["t68", "t128"] })).toEqual([68, 128]);
  expect(await ids({ custom_metadata: { attempts: 2.5 } })).toEqual([2, 42, 82, 122, 162, 202, 242]);
  expect(await ids({ custom_metadata: { deep: { x: 1 } }, duration_ms: 82 })).toEqual([82]);
  expect(await ids({ request_headers: { "x-call": "77", "user-agent": "client/2" } })).toEqual([77]);
  expect(await ids({ request_headers: [{ "x-call": "7" }, { "x-call": 8 }, "7"] })).toEqual([7]);
  expect(await ids({ response_headers: [null, { "content-type": "text/event-stream" }] })).toEqual(
    [...Array(265).keys()].filter((i) => i % 45 === 6 || i % 60 === 7),
  );
  expect(await ids({ api_key_id: "key-3", http_status_code: 429 })).toEqual(
    [...Array(265).keys()].filter((i) => i % 11 === 3 && i % 50 === 9),
  );
  const within = { from: new Date(START + 50_000).toISOString(), to: new Date(START + 60_000).toISOString() };
  expect(await ids({}, within)).toEqual([50, 51, 52, 53, 54, 55, 56, 57, 58, 59]);
  expect(await ids({ llm_temperature: 0.1 }, within)).toEqual([53]);
});

const VALUES: Partial<Record<FieldName, readonly unknown[]>> = {
  http_status_code: [200, 429, 418, null],
  api_key_id: [null, ...Array.from({ length: 12 }, (_, i) => `key-${i}`)],
  llm_temperature: [null, 0, 0.1, 0.3, 7],
  tags: [null, "late", "t68", "nowhere", {}],
  custom_metadata: [{ of: "it" }, { attempts: 2.5 }, { deep: { x: 1 } }, { attempts: 3 }, null],
  request_headers: [{ "user-agent": "client/3" }, { "x-call": "101" }, { "x-call": "none" }, {}, null],
  guardrail_check: [null, "pii", "jailbreak"],
  duration_ms: [0, 17, 101, 235, 252, 262, 999],
};
const filter = fc
  .constantFrom(...(Object.keys(VALUES) as FieldName[]))
  .chain((field) => fc.tuple(fc.constant(field), fc.subarray([...(VALUES[field] ?? [])], { minLength: 1 })));
const moment = fc.option(
  fc.integer({ min: -300, max: 300 }).map((seconds) => new Date(START + seconds * 1_000).toISOString()),
  { nil: undefined },
);

test(
  "page and count of any query equal those of a scan of every row",
  async () => {
    const is = (field: FieldName, value: unknown): RawBuilder<unknown> =>
      value === null
        ? sql`${sql.ref(field)} IS NULL`
        : FIELDS[field].type === "json"
          ? sql`${sql.ref(field)} @> ${JSON.stringify(value)}::text::jsonb`
          : sql`${sql.ref(field)} = ${value}`;
    const asked = fc.record({
      filters: fc.array(filter, { maxLength: 3 }),
      tenant: fc.constantFrom(undefined, ...TENANTS),
      from: moment,
      to: moment,
      order: fc.constantFrom("asc" as const, "desc" as const),
      page: fc.integer({ min: 1, max: 3 }),
      page_size: fc.integer({ min: 1, max: 90 }),
    });
    await fc.assert(
      fc.asyncProperty(asked, async ({ filters, tenant, from, to, order, page, page_size }) => {
        const given = Object.fromEntries(filters);
        const conditions = [
          sql`(${tenant ?? null}::text IS NULL OR tenant_id = ${tenant ?? null}) AND (${from ?? null}::timestamptz IS NULL OR timestamp >= ${from ?? null}) AND (${to ?? null}::timestamptz IS NULL OR timestamp < ${to ?? null})`,
          ...(Object.entries(given) as [FieldName, unknown[]][]).map(
            ([field, values]) =>
              sql`(${sql.join(
                values.map((value) => is(field, value)),
                sql` OR `,
              )})`,
          ),
        ];
        const { rows: wanted } = await sql<{
          id: string;
        }>`SELECT id FROM audit_rows WHERE ${sql.join(conditions, sql` AND `)} ORDER BY id ${sql.raw(order)}`.execute(database.db);
        const found = await queryRows(
          database.db,
          { filters: given, tenant_id: tenant, from, to, order, page, page_size },
          { bodies: false },
        );
        expect(found.rows.map((row) => row.id as string)).toEqual(
          wanted.map((row) => row.id).slice((page - 1) * page_size, page * page_size),
        );
        if (found.total_is_exact) expect(found.total).toBe(wanted.length);
        else expect(found.total).toBeLessThanOrEqual(wanted.length);
      }),
      { numRuns: 80 },
    );
  },
  LONG_TEST_MS,
);

test("rows in blocks described without headers are still found by header", async () => {
  const before = await queried("request_headers", { "user-agent": "client/3" }, undefined, "desc");
  await sql`DELETE FROM audit_block_values WHERE field LIKE '%_headers'`.execute(database.db);
  await sql`UPDATE audit_blocks SET headers = false`.execute(database.db);
  expect(await queried("request_headers", { "user-agent": "client/3" }, undefined, "desc")).toEqual(before);
  await describeRows(database.db, new Date(), SIZES);
  expect((await sql`SELECT FROM audit_blocks WHERE NOT headers`.execute(database.db)).rows).toEqual([]);
  expect(await queried("request_headers", { "user-agent": "client/3" }, undefined, "desc")).toEqual(before);
});

test("late rows are added to their blocks without changing query results", async () => {
  const before = await queried("api_key_id", "key-4", undefined, "desc");
  while ((await describeRows(database.db, new Date(Date.now() + 600_000), SIZES)) > 0);
  expect(
    (await sql`SELECT FROM audit_late_rows l JOIN audit_blocks b ON l.id >= b.from_id AND l.id < b.to_id`.execute(database.db)).rows,
  ).toEqual([]);
  expect(await queried("api_key_id", "key-4", undefined, "desc")).toEqual(before);
});

test("an erasure finds the person's rows in every block, and no hash of the erased values remains", async () => {
  const erasure = {
    id: ulid(),
    tenantId: TENANTS[0],
    at: isoMicros(Date.now() * 1_000),
    requestedBy: null,
    reason: null,
    accountErased: false,
    approvalsErased: 0,
    salt: "s",
    values: { idp_user_email: "ann@example.com" },
    digests: { idp_user_email: "d" },
  };
  const { rows: erased } = await database.db.transaction().execute((trx) => eraseSubject(trx, erasure));
  expect(erased).toBe(rows.filter((row) => row.idp_user_email !== null && row.tenant_id === TENANTS[0]).length);
  const hashes = async () =>
    (
      await sql`SELECT FROM audit_block_values v CROSS JOIN unnest(v.entries) e WHERE field = 'idp_user_email' AND e >> 32 = hashtext('ann@example.com') AND (e >> 16) & 65535 = hashtext(${TENANTS[0]}) & 65535`.execute(
        database.db,
      )
    ).rows.length;
  expect(await hashes()).toBe(0);
  for (const described of [false, true]) {
    if (described) while ((await describeRows(database.db, new Date(), SIZES)) > 0);
    expect(await hashes()).toBe(0);
    expect((await queried("idp_user_email", "ann@example.com", TENANTS[0], "desc")).ids).toEqual([]);
    expect((await queried("idp_user_email", null, TENANTS[0], "desc")).ids).toEqual(await scannedIds("idp_user_email", null, TENANTS[0]));
  }
});

test("rows reduced by retention while their block is described are no longer found, and no hash remains", async () => {
  await sql`UPDATE audit_blocks SET filled = false WHERE block = (SELECT max(block) FROM audit_blocks WHERE filled)`.execute(database.db);
  await sql`DELETE FROM audit_block_values WHERE block IN (SELECT block FROM audit_blocks WHERE NOT filled)`.execute(database.db);
  const waiting = (sessions: number) =>
    until(
      () =>
        sql<{
          n: number;
        }>`SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(database.db),
      ({ rows: found }) => found[0]?.n === sessions,
    );
  // By the time the describing process waits for this, it has read the block's rows.
  const held = await database.db.startTransaction().execute();
  await sql`INSERT INTO audit_block_values SELECT block, f, -1, '{}' FROM audit_blocks, unnest(${[...LOOKED_UP]}::text[]) AS f WHERE NOT filled`.execute(
    held,
  );
  const described = describeRows(database.db, new Date(START), SIZES);
  await waiting(1);
  const reduced = reduceRows(database.db, TENANTS[0], new Date(), new Date());
  await Promise.race([reduced, waiting(2)]);
  await held.rollback().execute();
  await described;
  expect(await reduced).toBeGreaterThan(0);
  const hashes = async () =>
    (
      await sql`SELECT FROM audit_block_values v CROSS JOIN unnest(v.entries) e WHERE field = 'duration_ms' AND e >> 32 <> ${ABSENT_HASH} AND (e >> 16) & 65535 = hashtext(${TENANTS[0]}) & 65535`.execute(
        database.db,
      )
    ).rows.length;
  for (const isDescribed of [false, true]) {
    if (isDescribed) while ((await describeRows(database.db, new Date(), SIZES)) > 0);
    expect((await queried("duration_ms", null, TENANTS[0], "desc")).ids).toEqual(await scannedIds("duration_ms", null, TENANTS[0]));
    expect(await hashes()).toBe(0);
  }
});
