import { expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase } from "../../../../tests/support/database.ts";
import { until } from "../../../../tests/support/until.ts";
import { type ResponseToStore, ResponseStore } from "../../../directory/responses/response-store.ts";
import { refuse } from "../../../kernel/errors.ts";
import { ulid } from "../../../kernel/ids.ts";
import type { JobQuestion } from "../../../upstreams/providers/provider.ts";
import { ResponseMeter, type ResponseMeterParts } from "./response-meter.ts";

const HOUR_MS = 3_600_000;

test("a tenant whose provider never answers keeps nobody else's responses waiting", async () => {
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
    tenant: () => ({ models: new Map([["m", model]]) }),
    chain: "here",
    now: Date.now,
  } as unknown as ResponseMeterParts);
  await until(
    () => meter.look(),
    () => asked.some((path) => path.includes("quick_1")),
  );
  for (let look = 0; look < 3; look++) await meter.look();
  expect(asked.filter((path) => path.includes("slow")).length).toBeLessThanOrEqual(16);
  hangUp();
  await meter.stop();
  await database.close();
});
