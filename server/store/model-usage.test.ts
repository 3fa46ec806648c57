import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { callRow, temporaryDirectory, testLedger } from "../ledger/test-support.ts";
import { toolResultsOfDay } from "./tool-usage.ts";
import { callTotals, usageTotals } from "./usage-totals.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const idOf = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;

test("what models used before it was kept by their ids is found, under the names they had", async () => {
  const { db } = database;
  const [kept, renamed, provider] = [1, 2, 3].map(idOf);
  const now = new Date();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(db);
  await sql`INSERT INTO providers (id, tenant_id, provider_key, name, api_format, base_url) VALUES (${provider}, 't', 'p', 'p', 'openai', 'http://p')`.execute(
    db,
  );
  for (const [id, name] of [
    [kept, "kept"],
    [renamed, "new name"],
  ])
    await sql`INSERT INTO models (id, tenant_id, name, model_name, provider_id, modes) VALUES (${id}, 't', ${name}, 'm', ${provider}, '{chat}')`.execute(
      db,
    );
  await sql`INSERT INTO admin_log (id, tenant_id, action, resource, resource_id, before, after) VALUES ('entry', 't', 'update', 'models', ${renamed}, '{"name":"old name"}', '{"name":"new name"}')`.execute(
    db,
  );
  await sql`ALTER TABLE usage_hourly ADD COLUMN tool_results bigint NOT NULL DEFAULT 0`.execute(db);
  for (const [name, requests] of [
    ["kept", 1],
    ["old name", 2],
    ["new name", 3],
    ["gone", 4],
  ] as const) {
    await sql`INSERT INTO usage_daily VALUES ('t', (${now}::timestamptz AT TIME ZONE 'UTC')::date, 'g', ${name}, ${requests}, 0, 10, 5, 7, 0)`.execute(
      db,
    );
    await sql`INSERT INTO usage_hourly VALUES ('t', date_trunc('hour', ${now}::timestamptz, 'UTC'), 'g', '', ${name}, ${requests}, 0, 10, 5, 7, 0, ${requests})`.execute(
      db,
    );
  }
  await sql`DROP TABLE former_model_names, model_usage_daily, tool_results_hourly`.execute(db);
  await sql.raw(await readFile(new URL("migrations/0086_model_usage.sql", import.meta.url), "utf8")).execute(db);

  const totals = await usageTotals(db, "t", {
    day: now.toISOString().slice(0, 10),
    month: true,
    modelIds: [kept as string, renamed as string, "gone"],
    groupIds: null,
  });
  const told = totals.map(({ model_id, day_requests, day_tokens, day_micros }) => [model_id, day_requests, day_tokens, day_micros]);
  const expected = [
    [kept, 1, 15, 7],
    [renamed, 5, 30, 14],
    ["gone", 4, 15, 7],
    [null, 10, 60, 28],
  ];
  const sorted = (list: unknown[][]) => list.toSorted((a, b) => String(a[0]).localeCompare(String(b[0])));
  expect(sorted(told)).toEqual(sorted(expected));
  const results = await toolResultsOfDay(db, "t", now.getTime());
  expect(sorted(results.map(({ item, count }) => [item, count]))).toEqual(
    sorted(expected.map(([item, requests]) => [item as string, requests])),
  );
});

test.each([
  ["one that tells no attempts", {}, [["last", 1, 150, 500]]],
  [
    "of several attempts, what none tells of is the last one's",
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
  ["nobody was asked", { attempts: [] }, []],
  ["what is no list of attempts", { attempts: 2.5 }, [["last", 1, 150, 500]]],
])("counts of a call for each model: %s", async (name, custom_metadata, meant) => {
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
  // What a process that died counted for a member goes by the same parts.
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
