import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { isoMicros } from "../../kernel/clock.ts";
import { ulid } from "../../kernel/ids.ts";
import type { Ledger } from "../ledger.ts";
import { callRow, temporaryDirectory, testLedger } from "../test-support.ts";

let database: TestDatabase;
let ledger: Ledger;

beforeAll(async () => {
  database = await testDatabase();
  ledger = await testLedger(database.db, temporaryDirectory());
});
afterAll(async () => {
  await ledger.close();
  await database.close();
});

const NOW = Date.now() * 1000;
const JUDGE = "semantic_policy_judge";

interface Stored {
  readonly id: string;
  readonly root: string;
  readonly at: string;
  readonly created: string;
  readonly proxy_subtype: string;
  readonly mcp_method: string | null;
  readonly told_failure: boolean;
  readonly success: boolean;
  readonly api_key_id: string;
  readonly tokens: number;
  readonly micro_usd: number | null;
  readonly ends: string | null;
  readonly joined: boolean;
  readonly nested: boolean;
}

/** A run's sums, computed naively from its rows. */
function modelled(rows: readonly Stored[]): object {
  const ending = rows.filter((row) => row.ends !== null).sort((a, b) => (a.created < b.created ? -1 : 1))[0];
  const closed = ending?.created ?? "9";
  const timely = rows.filter((row) => row.at <= closed);
  const counted = timely.filter((row) => !row.joined);
  const newest = timely
    .filter((row) => !(row.nested && row.proxy_subtype === JUDGE))
    .toSorted((a, b) => (a.at + a.id < b.at + b.id ? -1 : 1))
    .at(-1);
  const tools = counted.filter((row) => row.mcp_method === "tools/call");
  return {
    state: timely.filter((row) => row.ends !== null).sort((a, b) => (a.created < b.created ? -1 : 1))[0]?.ends ?? "open",
    participants: [...new Set(rows.map((row) => row.api_key_id))].sort(),
    started: rows.map((row) => row.at).sort()[0],
    last_id: newest?.id ?? null,
    last_result: newest === undefined ? null : newest.success ? "completed" : "errored",
    calls: counted.length,
    llm_calls: counted.filter((row) => ["chat_completions", JUDGE].includes(row.proxy_subtype)).length,
    tool_calls: tools.length,
    tool_errors: tools.filter((row) => !row.success || row.told_failure).length,
    errors: counted.filter((row) => !row.success).length,
    late_calls: rows.length - timely.length,
    prompt_tokens: counted.reduce((sum, row) => sum + row.tokens, 0),
    cost_micro_usd: counted.reduce((sum, row) => sum + (row.micro_usd ?? 0), 0),
    unpriced_calls: counted.filter((row) => row.micro_usd === null).length,
  };
}

const call = fc.record({
  run: fc.nat(4),
  second: fc.integer({ min: -60, max: -1 }),
  late: fc.boolean(),
  what: fc.constantFrom("chat_completions", "models_list", "file_upload", JUDGE, "tools/call", "tools/list", "initialize"),
  told_failure: fc.boolean(),
  success: fc.boolean(),
  key: fc.constantFrom("k1", "k2"),
  tokens: fc.nat(50),
  price: fc.option(fc.nat(1000), { nil: undefined }),
  ends: fc.boolean(),
  joined: fc.boolean(),
  nested: fc.boolean(),
});

/** The fields of an MCP method or, without a slash, of a model surface call. */
const kindOf = (what: string) =>
  what.includes("/") || what === "initialize"
    ? { proxy_type: "mcp", proxy_subtype: "mcp_jsonrpc", mcp_method: what }
    : { proxy_type: "llm", proxy_subtype: what, mcp_method: null };

test("sums of runs match their rows, in whatever batches the rows are shipped", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(call, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }), async (batches) => {
      const tenant = ulid().toLowerCase();
      for (const batch of batches) {
        const sealed = batch.map((made, index) =>
          ledger.seal(
            callRow({
              tenant_id: tenant,
              root_task_id: made.run === 0 ? ulid() : `run ${made.run}`,
              trace_continuity: "minted",
              resource_group_id: "g",
              api_key_id: made.key,
              ...kindOf(made.what),
              parent_request_id: made.nested ? "x" : null,
              tags: made.told_failure ? ["tool_error"] : null,
              timestamp: isoMicros(NOW + (made.late && !made.ends ? 3600 + made.second : made.second) * 1_000_000 + index),
              success: made.success,
              ...(made.success ? {} : { http_status_code: 502, error_type: "upstream_error" }),
              llm_prompt_tokens: made.tokens + 1,
              llm_estimated_cost_usd: made.price === undefined ? null : made.price / 1_000_000,
              ...(made.ends ? { run_end_state: "cancelled" } : {}),
              ...(made.joined ? { custom_metadata: { joined_row_id: "x" } } : {}),
            }),
          ),
        );
        await Promise.all(sealed);
        await ledger.shipped();
      }
      const { rows } = await sql<Stored>`
        SELECT id, root_task_id AS root, timestamp::text AS at, created_at::text AS created, proxy_subtype, mcp_method, coalesce(tags, '[]') @> '["tool_error"]' AS told_failure, success, api_key_id, llm_prompt_tokens AS tokens, round(llm_estimated_cost_usd * 1000000) AS micro_usd, run_end_state AS ends, custom_metadata ? 'joined_row_id' IS TRUE AS joined, parent_request_id IS NOT NULL AS nested
        FROM audit_rows WHERE tenant_id = ${tenant}`.execute(database.db);
      const runs = await sql<{ root: string } & Record<string, unknown>>`
        SELECT root_task_id AS root, state, ARRAY(SELECT unnest(participants) ORDER BY 1) AS participants, started_at::text AS started, last_id, last_result, calls, llm_calls, tool_calls, tool_errors, errors, late_calls, prompt_tokens, cost_micro_usd, unpriced_calls
        FROM runs WHERE tenant_id = ${tenant}`.execute(database.db);
      const stored = Object.fromEntries(runs.rows.map(({ root, ...run }) => [root, run]));
      const expected = Object.fromEntries(
        [...new Set(rows.map((row) => row.root))].map((root) => [root, modelled(rows.filter((row) => row.root === root))]),
      );
      expect(stored).toEqual(expected as typeof stored);
      const hours =
        await sql`SELECT sum(runs) AS runs, sum(calls) AS calls, sum(late_calls) AS late_calls, sum(cost_micro_usd) AS cost FROM run_hourly WHERE tenant_id = ${tenant}`.execute(
          database.db,
        );
      const summed =
        await sql`SELECT count(*) AS runs, sum(calls) AS calls, sum(late_calls) AS late_calls, sum(cost_micro_usd) AS cost FROM runs WHERE tenant_id = ${tenant}`.execute(
          database.db,
        );
      expect(hours.rows).toEqual(summed.rows);
      const day =
        await sql`SELECT coalesce(sum(requests), 0) AS requests, coalesce(sum(prompt_tokens), 0) AS tokens, coalesce(sum(cost_micro_usd), 0) AS cost, coalesce(sum(unpriced_requests), 0) AS unpriced FROM usage_daily WHERE tenant_id = ${tenant}`.execute(
          database.db,
        );
      const models = rows.filter((row) => row.mcp_method === null);
      expect(day.rows).toEqual([
        {
          requests: models.filter((row) => row.proxy_subtype === "chat_completions").length,
          tokens: models.reduce((sum, row) => sum + row.tokens, 0),
          cost: models.reduce((sum, row) => sum + (row.micro_usd ?? 0), 0),
          unpriced: models.filter((row) => row.micro_usd === null).length,
        },
      ]);
    }),
    { numRuns: 40 },
  );
});
