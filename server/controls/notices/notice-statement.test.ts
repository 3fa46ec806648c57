import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import fc from "fast-check";
import { readNoticeStatement } from "../../directory/notices/notice-configs.ts";
import { uuid } from "../../kernel/ids.ts";
import { exportRows } from "../../ledger/queries/export-rows.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { callRow, temporaryDirectory, testLedger } from "../../ledger/test-support.ts";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";

let database: TestDatabase;
let writers: Ledger[];

beforeAll(async () => {
  database = await testDatabase();
  writers = [await testLedger(database.db, temporaryDirectory()), await testLedger(database.db, temporaryDirectory())];
});
afterAll(async () => {
  for (const writer of writers) await writer.close();
  await database.close();
});

const GROUPS = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"] as const;
const MOMENTS = 6;
const handleOf = (conversation: number) => `01J${String(conversation).padStart(23, "0")}`;
const timeOf = (moment: number) => `2026-11-21T09:00:00.${String(moment).padStart(6, "0")}Z`;

interface Step {
  readonly what: "notice" | "notice_refused" | "turn" | "turn_failed" | "other_call" | "list" | "count";
  readonly conversation: number;
  readonly writer: number;
  readonly moment: number;
  readonly group: number;
}

/** Steps are in log order, which need not be the order of their times. */
const anyStep: fc.Arbitrary<Step> = fc.record({
  what: fc.oneof(
    { weight: 4, arbitrary: fc.constant("notice" as const) },
    { weight: 4, arbitrary: fc.constant("turn" as const) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        "notice_refused" as const,
        "turn_failed" as const,
        "other_call" as const,
        "list" as const,
        "count" as const,
      ),
    },
  ),
  conversation: fc.nat({ max: 6 }),
  writer: fc.nat({ max: 1 }),
  moment: fc.nat({ max: MOMENTS }),
  group: fc.nat({ max: 1 }),
});
/** Notices come early more often than late, as in practice. */
const step = anyStep.map((one) => (one.what.startsWith("notice") ? { ...one, moment: one.moment >> 1 } : one));
const bound = fc.option(fc.nat({ max: MOMENTS + 1 }).map(timeOf));
const window = fc.record({ from: bound, to: bound, systemId: fc.option(fc.constantFrom(...GROUPS)) });

function rowOf(tenantId: string, { what, conversation, moment, group }: Step): AuditRow {
  const handle = { conversation_handle: handleOf(conversation) };
  const common = { tenant_id: tenantId, timestamp: timeOf(moment) };
  if (what === "notice")
    return callRow({
      ...common,
      proxy_type: "portal",
      proxy_subtype: "notice",
      resource_group_id: null,
      custom_metadata: { ...handle, action_record: { kind: "fyi" } },
    });
  if (what === "notice_refused")
    return callRow({
      ...common,
      proxy_type: "portal",
      proxy_subtype: "notice",
      resource_group_id: null,
      success: false,
      http_status_code: 503,
      custom_metadata: { ...handle, action_record: { kind: "fyi" } },
    });
  if (what === "other_call")
    return callRow({
      ...common,
      proxy_type: "mcp",
      proxy_subtype: "mcp_jsonrpc",
      resource_group_id: GROUPS[group] as string,
      custom_metadata: handle,
    });
  // Listing models and counting tokens do not count as talking to one.
  if (what === "list" || what === "count")
    return callRow({
      ...common,
      proxy_subtype: what === "list" ? "models_list" : "anthropic_count_tokens",
      resource_group_id: GROUPS[group] as string,
      custom_metadata: handle,
    });
  const failed = what === "turn_failed" ? { success: false, http_status_code: 502 } : {};
  return callRow({ ...common, ...failed, resource_group_id: GROUPS[group] as string, custom_metadata: handle });
}

/** The counts that someone with nothing but the exported rows would arrive at. */
function recount(rows: readonly any[], { from, to, systemId }: { from: string | null; to: string | null; systemId: string | null }) {
  const firstTurns = new Map<string, any>();
  const notices = new Map<string, any[]>();
  for (const row of rows) {
    const handle = row.custom_metadata?.conversation_handle;
    if (row.proxy_subtype === "chat_completions" && row.http_status_code < 400) {
      const known = firstTurns.get(handle);
      if (known === undefined || row.timestamp < known.timestamp || (row.timestamp === known.timestamp && row.id < known.id))
        firstTurns.set(handle, row);
    } else if (row.proxy_subtype === "notice" && row.success) notices.set(handle, [...(notices.get(handle) ?? []), row]);
  }
  const counted = [...firstTurns].filter(
    ([, turn]) =>
      (from === null || turn.timestamp >= from) &&
      (to === null || turn.timestamp < to) &&
      (systemId === null || turn.resource_group_id === systemId),
  );
  const before = (notice: any, turn: any) =>
    notice.timestamp < turn.timestamp && (notice.chain_id !== turn.chain_id || notice.chain_seq < turn.chain_seq);
  const notMet = counted.filter(([handle, turn]) => !(notices.get(handle) ?? []).some((notice) => before(notice, turn)));
  return { met: counted.length - notMet.length, of: counted.length, not_met: notMet.map(([handle]) => handle).sort() };
}

test("the notice statement equals a recount of the exported rows, for any history of notices and turns", async () => {
  const seen = { met: 0, notMet: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30, size: "max" }),
      fc.array(window, { minLength: 1, maxLength: 4 }),
      async (history, windows) => {
        // A tenant of its own, because the rows of earlier runs, with the same conversations, remain stored.
        const tenantId = uuid();
        for (const one of history) await (writers[one.writer] as Ledger).seal(rowOf(tenantId, one));
        for (const writer of writers) await writer.shipped();
        let lines = "";
        for await (const piece of exportRows(database.db, { tenant_id: tenantId }, { bodies: false }, "jsonl")) lines += piece;
        const rows = lines
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line));
        expect(rows).toHaveLength(history.length);
        for (const given of [{ from: null, to: null, systemId: null }, ...windows]) {
          const expected = recount(rows, given);
          expect(await readNoticeStatement({ db: database.db }, tenantId, given)).toEqual({
            statement: "notice.before_first_turn",
            from: given.from,
            to: given.to,
            ...expected,
          });
          seen.met += expected.met;
          seen.notMet += expected.not_met.length;
        }
      },
    ),
    { numRuns: 40 },
  );
  // The property is only tested if both outcomes occur often enough.
  expect([seen.met > 20, seen.notMet > 20]).toEqual([true, true]);
});
