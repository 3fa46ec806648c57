import { expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase } from "../../../../tests/support/database.ts";
import { until } from "../../../../tests/support/until.ts";
import { type ResponseToStore, ResponseStore } from "../../../directory/responses/response-store.ts";
import { refuse } from "../../../kernel/errors.ts";
import { ulid } from "../../../kernel/ids.ts";
import { jsonLog } from "../../../kernel/log.ts";
import type { JobQuestion } from "../../../upstreams/providers/provider.ts";
import { ResponseMeter, type ResponseMeterParts } from "./response-meter.ts";

const HOUR_MS = 3_600_000;

test("a tenant whose provider never answers does not delay polling of other tenants' responses", async () => {
  const database = await testDatabase();
  const { db } = database;
  const group = { slow: crypto.randomUUID(), quick: crypto.randomUUID() };
  for (const [tenant, id] of Object.entries(group)) {
    await sql`INSERT INTO tenants (id, name, data_retention) VALUES (${tenant}, ${tenant}, '{}')`.execute(db);
    await sql`INSERT INTO resource_groups (id, tenant_id, name, group_type) VALUES (${id}, ${tenant}, 'g', 'team')`.execute(db);
  }
  const due = (tenant: keyof typeof group, id: string, sinceMs: number): ResponseToStore => ({
    ...{ tenant_id: tenant, id, resource_group_id: group[tenant], end_user_id: null, api_key_id: null, model_id: "m", model: "m" },
    ...{ provider_key: "p", request_id: ulid(), client_ip: "", input_characters: 1, created_at: new Date(), streamed: false },
    ...{ expires_at: new Date(Date.now() + HOUR_MS), look_at: new Date(Date.now() - sinceMs), held_tokens: 0, held_micro_usd: 0 },
  });
  const store = new ResponseStore(db);
  await store.insert([...Array.from({ length: 200 }, (_, at) => due("slow", `slow_${at}`, HOUR_MS)), due("quick", "quick_1", 1)]);

  const asked: string[] = [];
  let hangUp = (): void => {};
  const gone = new Promise<void>((resolve) => (hangUp = resolve));
  const ask = async (_target: unknown, { path }: JobQuestion) => {
    asked.push(path);
    if (path.includes("slow")) await gone;
    return refuse("upstream_unreachable");
  };
  const model = { id: "m", modelName: "m", provider: { apiFormat: "openai" } };
  const meter = new ResponseMeter({
    store,
    providers: { openai: { ask } },
    recording: () => true,
    tenant: () => ({ models: new Map([["m", model]]) }),
    chain: "here",
    now: Date.now,
  } as unknown as ResponseMeterParts);
  await until(
    () => meter.poll(),
    () => asked.some((path) => path.includes("quick_1")),
  );
  for (let look = 0; look < 3; look++) await meter.poll();
  expect(asked.filter((path) => path.includes("slow")).length).toBeLessThanOrEqual(16);
  hangUp();
  await meter.stop();
  await database.close();
});

test("a background response is counted once in windows that were not loaded yet", async () => {
  const database = await testDatabase();
  const groupId = crypto.randomUUID();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(database.db);
  await sql`INSERT INTO resource_groups (id, tenant_id, name, group_type) VALUES (${groupId}, 't', 'g', 'team')`.execute(database.db);
  const store = new ResponseStore(database.db);
  await store.insert([
    {
      ...{ tenant_id: "t", id: "resp_1", resource_group_id: groupId, end_user_id: null, api_key_id: null, model_id: "m", model: "m" },
      ...{ provider_key: "p", request_id: ulid(), client_ip: "", input_characters: 1, created_at: new Date(), streamed: false },
      ...{ expires_at: new Date(Date.now() + HOUR_MS), look_at: new Date(), held_tokens: 0, held_micro_usd: 0 },
    },
  ]);
  let recorded = 0;
  let spent: number | null = null;
  let counted = false;
  const models = new Map([
    ["m", { id: "m", modelName: "m", provider: { apiFormat: "openai" }, priceSchedule: [{ from: 0, prices: {}, tiers: [] }] }],
  ]);
  const answer = { id: "resp_1", status: "completed", usage: { input_tokens: 10, output_tokens: 20, total_tokens: 30 } };
  const meter = new ResponseMeter({
    store,
    providers: { openai: { ask: async () => ({ response: Response.json(answer) }) } },
    tenant: () => ({ models }),
    scope: () => ({ tenant: { models } }),
    calls: {
      async recordEvent({ fields, claim }: Parameters<ResponseMeterParts["calls"]["recordEvent"]>[0]) {
        recorded += fields?.llm_total_tokens ?? 0;
        return (await claim?.(ulid())) ?? true;
      },
    },
    budgets: {
      async hold() {
        spent ??= recorded;
      },
      async settle(_id: string, _micros: number, used: { input: number; output: number }) {
        spent = (spent ?? recorded) + used.input + used.output;
        counted = true;
      },
    },
    recording: () => true,
    chain: "here",
    now: Date.now,
    log: jsonLog("warn"),
  } as unknown as ResponseMeterParts);
  await until(
    () => meter.poll(),
    () => counted,
  );
  expect([recorded, spent]).toEqual([30, 30]);
  await meter.stop();
  await database.close();
});

test("a process that cannot record asks no provider, takes no response from the others and still releases what it holds", async () => {
  const asked: string[] = [];
  let recording = false;
  const meter = new ResponseMeter({
    store: {
      settled: async () => [{ request_id: "held", used: null }],
      async takeDue() {
        asked.push("due");
        return [];
      },
    },
    budgets: { settle: async (id: string) => void asked.push(id) },
    recording: () => recording,
    chain: "here",
  } as unknown as ResponseMeterParts);
  meter.holds({ request_id: "held", tenant_id: "t", id: "resp_1" });
  for (let look = 0; look < 3; look++) await meter.poll();
  expect(asked).toEqual(["held/response/here"]);
  recording = true;
  await meter.poll();
  expect(asked).toEqual(["held/response/here", "due"]);
});
