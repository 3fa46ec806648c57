import { expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase } from "../../../tests/support/database.ts";
import { noticeBeforeFirstTurn } from "./notices.ts";

test("whether a notice preceded each conversation is answered in one query over the rows, without subplans", async () => {
  const statements: string[] = [];
  const database = await testDatabase({ onQuery: (text) => statements.push(text) });
  const { db } = database;
  let made = 0;
  const row = async (subtype: "notice" | "chat_completions", handle: string, chain: string, seq: number, second: number) => {
    const metadata = JSON.stringify({ conversation_handle: handle, ...(subtype === "notice" ? { action_record: {} } : {}) });
    await sql`INSERT INTO audit_rows (id, tenant_id, timestamp, proxy_type, proxy_subtype, http_status_code, success, chain_id, chain_seq, resource_group_id, custom_metadata)
      VALUES (${`01ARZ3NDEKTSV4RRFFQ69G5F${String(++made).padStart(2, "0")}`}, 't', to_timestamp(${1_795_000_000 + second}), ${subtype === "notice" ? "portal" : "llm"}, ${subtype}, 200, true, ${chain}, ${seq}, 'g', ${metadata}::jsonb)`.execute(
      db,
    );
  };
  await row("notice", "before", "a", 1, 1);
  await row("chat_completions", "before", "a", 2, 2);
  await row("chat_completions", "before", "a", 3, 3);
  await row("notice", "before", "a", 4, 4);
  await row("chat_completions", "late", "a", 5, 5);
  await row("notice", "late", "a", 6, 6);
  await row("notice", "elsewhere", "b", 9, 7);
  await row("chat_completions", "elsewhere", "a", 7, 8);
  // Earlier by the clock, later in the log.
  await row("notice", "set back", "a", 9, 9);
  await row("chat_completions", "set back", "a", 8, 10);
  await row("chat_completions", "never", "a", 10, 11);
  const window = { from: null, to: null, systemId: null };
  const told = await noticeBeforeFirstTurn(db, "t", window);
  expect(told).toEqual([
    { handle: "before", met: true },
    { handle: "elsewhere", met: true },
    { handle: "late", met: false },
    { handle: "never", met: false },
    { handle: "set back", met: false },
  ]);
  expect(await noticeBeforeFirstTurn(db, "t", { ...window, systemId: "another" })).toEqual([]);

  const statement = statements.find((text) => text.includes("turn_at")) ?? "";
  const plan = await sql<{
    "QUERY PLAN": string;
  }>`EXPLAIN ${sql.raw(statement.replaceAll(/\$(\d+)/g, (_, place) => ["'t'", "'{chat_completions}'"][Number(place) - 1] ?? "NULL"))}`.execute(
    db,
  );
  const lines = plan.rows.map((line) => line["QUERY PLAN"]);
  expect(lines.filter((line) => line.includes("SubPlan"))).toEqual([]);
  expect(lines.filter((line) => line.includes(" on audit_rows_rest "))).toHaveLength(1);
  await database.close();
});
