import { afterAll, beforeAll, expect, test } from "bun:test";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { callRow, temporaryDirectory, testLedger } from "../../ledger/test-support.ts";
import { callTotals, usageTotals } from "../usage/usage-totals.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

test.each([
  ["without attempts on its row", {}, [["last", 1, 150, 500]]],
  [
    "usage that no attempt reports counts for the last one",
    { attempts: [{ model: "a", prompt_tokens: 40, completion_tokens: 10, cost_usd: 0.0001 }, { model: "b" }, { model: "last" }] },
    [
      ["a", 1, 50, 100],
      ["b", 1, 0, 0],
      ["last", 1, 100, 400],
    ],
  ],
  [
    "retries on one model",
    { attempts: [{ model: "last", prompt_tokens: 50, completion_tokens: 0, cost_usd: 0.0001 }, { model: "last" }] },
    [["last", 2, 150, 500]],
  ],
  [
    "the last attempt failed as well",
    {
      attempts: [
        { model: "a", prompt_tokens: 100, completion_tokens: 0, cost_usd: 0.0003 },
        { model: "last", prompt_tokens: 50, completion_tokens: 0, cost_usd: 0.0002 },
      ],
    },
    [
      ["a", 1, 100, 300],
      ["last", 1, 50, 200],
    ],
  ],
  [
    "an attempt without a price",
    { attempts: [{ model: "a", prompt_tokens: 50, completion_tokens: 0, cost_usd: null }, { model: "last" }] },
    [
      ["a", 1, 50, 0],
      ["last", 1, 100, 500],
    ],
  ],
  ["no attempt was made", { attempts: [] }, []],
  ["attempts that are no list", { attempts: 2.5 }, [["last", 1, 150, 500]]],
])("usage totals per model of a call: %s", async (name, custom_metadata, meant) => {
  const ledger = await testLedger(database.db, temporaryDirectory());
  const row = callRow({
    tenant_id: name,
    llm_model_used: "last",
    llm_prompt_tokens: 100,
    llm_completion_tokens: 50,
    llm_estimated_cost_usd: 0.0005,
    custom_metadata,
  });
  const id = row.id as string;
  await ledger.seal(row);
  await ledger.shipped();
  await ledger.close();
  const totals = await usageTotals(database.db, name, {
    day: (row.timestamp as string).slice(0, 10),
    month: true,
    modelIds: ["a", "b", "last"],
    groupIds: null,
  });
  const told = totals.map(({ model_id, day_requests, day_tokens, day_micros }) => [model_id ?? "", day_requests, day_tokens, day_micros]);
  expect(told.toSorted()).toEqual([["", 1, 150, 500], ...meant].toSorted());
  // What was counted for a member by a process that died is divided in the same way.
  const [total] = await callTotals(database.db, name, [id]);
  const attempts = (custom_metadata as { attempts?: { model: string }[] }).attempts;
  const parts = new Map<string, number>();
  total?.attempts?.forEach(({ tokens }, i) => parts.set(attempts?.[i]?.model ?? "", (parts.get(attempts?.[i]?.model ?? "") ?? 0) + tokens));
  if (Array.isArray(attempts))
    expect([...parts].toSorted()).toEqual(
      meant.map(([model, , tokens]) => [model as string, tokens as number]).toSorted() as [string, number][],
    );
  else expect(total?.attempts).toBeNull();
});
