import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FIELD_NAMES } from "@gatehouse/ledger-format/fields";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { Refused, type FieldError } from "../../kernel/errors.ts";
import { openDatabase } from "../../store/database.ts";
import { exportRows, type RowExport } from "./export-rows.ts";
import { queryRows, type RowQuery } from "./query.ts";
import { callRow, recordedLog, temporaryDirectory, testLedger } from "../test-support.ts";

const A = "55555555-5555-4555-8555-555555555555";
const B = "66666666-6666-4666-8666-666666666666";

let database: TestDatabase;
const ids: string[] = [];

beforeAll(async () => {
  database = await testDatabase();
  const ledger = await testLedger(database.db, temporaryDirectory());
  const rows = [
    callRow({ tenant_id: A, timestamp: "2026-11-21T09:00:00.000001Z", http_status_code: 200, tags: ["late"], delegation_depth: null }),
    callRow({
      tenant_id: A,
      timestamp: "2026-11-21T10:00:00.000000Z",
      http_status_code: 429,
      success: false,
      error_message: "100% of the limit_used",
      llm_temperature: 0.5,
    }),
    callRow({
      tenant_id: B,
      timestamp: "2026-11-21T11:00:00.000000Z",
      http_status_code: 500,
      success: false,
      tags: ["late", "b"],
      mcp_capability_name: "delete_index",
      error_type: "tool_not_allowed",
      trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
      upstream_request_id: "req_up",
    }),
    callRow({ tenant_id: null, timestamp: "2026-11-21T12:00:00.000000Z", http_status_code: 401, api_key_id: null, endpoint: "/v1/else" }),
  ];
  for (const row of rows) {
    ids.push(row.id as string);
    await ledger.seal(row);
  }
  await ledger.close();
});
afterAll(() => database.close());

const found = async (query: RowQuery) =>
  (await queryRows(database.db, { order: "asc", ...query }, { bodies: false })).rows.map((row) => ids.indexOf(row.id as string));

async function refusedFields(query: RowQuery): Promise<string[]> {
  const error: unknown = await queryRows(database.db, query, { bodies: true }).catch((thrown: unknown) => thrown);
  if (!(error instanceof Refused)) throw new Error("the query was not refused");
  expect(error.refusal.code).toBe("invalid_body");
  return (error.refusal.fields ?? []).map((problem: FieldError) => problem.field).sort();
}

test("rows have every field, with null for absent ones and times with six decimals", async () => {
  const { rows, total, page, page_size } = await queryRows(database.db, { tenant_id: A, order: "asc" }, { bodies: true });
  expect({ total, page, page_size }).toEqual({ total: 2, page: 1, page_size: 50 });
  const [row] = rows;
  expect(Object.keys(row ?? {}).sort()).toEqual([...FIELD_NAMES, "bodies_withheld"].sort());
  expect(row).toMatchObject({
    timestamp: "2026-11-21T09:00:00.000001Z",
    llm_estimated_cost_usd: 0.000375,
    chain_seq: 1,
    tags: ["late"],
    delegation_depth: null,
    bodies_withheld: false,
  });
  expect(row?.request_body_preview).toContain("messages");
  expect(row?.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
});

test("bodies are withheld from readers without permission", async () => {
  const { rows } = await queryRows(database.db, {}, { bodies: false });
  expect(rows).toHaveLength(4);
  for (const row of rows) expect(row).toMatchObject({ request_body_preview: null, response_body_preview: null, bodies_withheld: true });
  expect(Object.keys(rows[0] ?? {}).sort()).toEqual([...FIELD_NAMES, "bodies_withheld"].sort());
});

describe("a query finds", () => {
  const queries: readonly (readonly [what: string, query: RowQuery, rows: readonly number[]])[] = [
    ["the rows of one tenant", { tenant_id: B }, [2]],
    ["a time range, including its start and excluding its end", { from: "2026-11-21T10:00:00Z", to: "2026-11-21T12:00:00Z" }, [1, 2]],
    ["a value", { filters: { http_status_code: 429 } }, [1]],
    ["any of several values", { filters: { http_status_code: [200, 500] } }, [0, 2]],
    ["null", { filters: { api_key_id: null } }, [3]],
    ["null or a value", { filters: { tenant_id: [null, B] } }, [2, 3]],
    ["a tag", { filters: { tags: "late" } }, [0, 2]],
    [
      "a number, a boolean and a time",
      { filters: { llm_temperature: 0.5, success: false, timestamp: "2026-11-21T10:00:00.000000Z" } },
      [1],
    ],
    ["nothing with an empty list of values", { filters: { http_status_code: [] } }, []],
    ["text with wildcard characters taken literally", { q: "100% of the limit_" }, [1]],
    ["text in any case", { q: "V1/ELSE" }, [3]],
    ...["delete_index", "tool_not_allowed", "4bf92f3577b34da6a3ce929d0e0e4736", "REQ_UP"].map(
      (q) => [`a name or ID in a row: ${q}`, { q }, [2]] as const,
    ),
    ["no row by a wildcard", { q: "li%ed" }, []],
    ["a page of rows", { page: 2, page_size: 3 }, [3]],
    ["the newest rows first", { order: "desc" }, [3, 2, 1, 0]],
  ];
  for (const [what, query, rows] of queries) test(what, async () => expect(await found(query)).toEqual([...rows]));
});

test("a query up to an ID finds that row and older ones, so that later pages stay stable", async () => {
  expect(await found({ until_id: ids[2], order: "desc" })).toEqual([2, 1, 0]);
  expect(await found({ until_id: ids[2], order: "desc", page: 2, page_size: 2 })).toEqual([0]);
});

test("an invalid query is refused with every invalid field", async () => {
  expect(queryRows(database.db, { page: 0, order: "up" as "asc" }, { bodies: false })).rejects.toThrow(
    "page: must be an integer from 1; order: must be asc or desc",
  );
  expect(
    await refusedFields({
      filters: { nonsense: 1, http_status_code: "200", success: [true, "x"], timestamp: "soon", request_body_preview: "x", endpoint: "\0" },
    }),
  ).toEqual(["endpoint", "http_status_code", "nonsense", "request_body_preview", "success", "timestamp"].map((name) => `filters.${name}`));
  expect(await refusedFields({ page: 0, page_size: 201, from: "yesterday", to: "", order: "up" as "asc", q: "\0" })).toEqual([
    "from",
    "order",
    "page",
    "page_size",
    "q",
    "to",
  ]);
});

describe("a time that the database would not accept is refused with its field:", () => {
  test.each([
    "2026-02-30",
    "2026-02-30T00:00:00Z",
    "2026-13-01",
    "0000-01-01",
    "2026-01-01T25:00Z",
    "2026-01-01T00:00:00+18:00",
    "2026-01-01 10:00 GMT+0200 (CEST)",
    "2026-01-01 Jan",
  ])("%s", async (time) => {
    expect(await refusedFields({ from: time, to: time, filters: { timestamp: time } })).toEqual(["filters.timestamp", "from", "to"]);
  });
});

test("a time without an offset is UTC, whatever the database's time zone", async () => {
  const { db } = database;
  await sql`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone TO %L', current_database(), 'Asia/Tokyo'); END $$`.execute(db);
  const connection = openDatabase(database.url, { log: recordedLog(), max: 1 });
  const rowsOf = async (query: RowQuery) =>
    (await queryRows(connection.db, { order: "asc", ...query }, { bodies: false })).rows.map((row) => ids.indexOf(row.id as string));
  expect(await rowsOf({ from: "2026-11-21T10:00", to: "2026-11-21 11:00:00" })).toEqual([1]);
  expect(await rowsOf({ from: "2026-11-21", to: "2026-11-22" })).toEqual([0, 1, 2, 3]);
  expect(await rowsOf({ from: "2026-11-21T19:00+09:00", to: "2026-11-21t11:00z" })).toEqual([1]);
  expect(await rowsOf({ filters: { timestamp: "2026-11-21T10:00:00" } })).toEqual([1]);
  await connection.close();
});

describe("an export", () => {
  const lines = async (query: RowExport, format: "jsonl" | "csv", bodies = false) => {
    let text = "";
    for await (const piece of exportRows(database.db, query, { bodies }, format)) text += piece;
    return text;
  };

  test("has the rows that a query finds, with bodies only for permitted readers", async () => {
    const rows = (await lines({ tenant_id: A, order: "asc" }, "jsonl"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map((row) => ids.indexOf(row.id))).toEqual([0, 1]);
    expect(rows[0]).not.toHaveProperty("request_body_preview");
    expect(rows[0]).not.toHaveProperty("delegation_depth");
    expect(rows[0].timestamp).toBe("2026-11-21T09:00:00.000001Z");
    expect(JSON.parse((await lines({ tenant_id: B }, "jsonl", true)).trimEnd()).request_body_preview).toContain("messages");
    expect(
      (await lines({ filters: { http_status_code: [401, 500] } }, "jsonl"))
        .trimEnd()
        .split("\n")
        .map((line) => ids.indexOf(JSON.parse(line).id)),
    ).toEqual([3, 2]);
  });

  test("as CSV quotes where needed, leaves absent values empty, and turns no caller's text into a formula", async () => {
    const ledger = await testLedger(database.db, temporaryDirectory());
    await ledger.seal(
      callRow({
        tenant_id: "csv",
        user_agent: '=cmd|"x"',
        error_message: "two\nlines, one comma",
        step_name: "",
        api_key_name: " =1+1",
        correlation_id: "-1",
        llm_estimated_cost_usd: -1,
      }),
    );
    await ledger.close();
    const [header = "", ...rest] = (await lines({ tenant_id: "csv" }, "csv")).split("\r\n");
    const at = (name: string) => header.split(",").indexOf(name);
    expect(header.split(",")).toEqual(FIELD_NAMES.filter((name) => !name.endsWith("_body_preview")));
    const values = cellsOf(rest.join("\r\n"));
    expect(
      [
        "user_agent",
        "error_message",
        "step_name",
        "api_key_name",
        "correlation_id",
        "llm_estimated_cost_usd",
        "idp_user_email",
        "success",
      ].map((name) => values[at(name)]),
    ).toEqual([`"'=cmd|""x"""`, '"two\nlines, one comma"', '""', `"' =1+1"`, `"'-1"`, "-1", "", "true"]);
  });

  test("of an invalid query is refused before anything is sent", () => {
    expect(exportRows(database.db, { filters: { nonsense: 1 } }, { bodies: false }, "csv").next()).rejects.toThrow();
  });
});

/** The raw cells of a line, including quotes. */
function cellsOf(line: string): string[] {
  return [...line.matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(?:,|\r\n|$)/g)].map(([, cell = ""]) => cell);
}
