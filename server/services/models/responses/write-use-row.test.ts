import { expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase } from "../../../../tests/support/database.ts";
import { ResponseStore } from "../../../directory/responses/response-store.ts";
import { ulid } from "../../../kernel/ids.ts";
import { usageOfResponse } from "../../../wire/responses/usage.ts";
import { writeUseRow } from "./write-use-row.ts";

test("a response whose row could not be sealed keeps that row's ID, so that no second row counts its usage", async () => {
  const database = await testDatabase();
  const groupId = crypto.randomUUID();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(database.db);
  await sql`INSERT INTO resource_groups (id, tenant_id, name, group_type) VALUES (${groupId}, 't', 'g', 'team')`.execute(database.db);
  const store = new ResponseStore(database.db);
  await store.insert([
    {
      ...{ tenant_id: "t", id: "resp_1", resource_group_id: groupId, end_user_id: null, api_key_id: null, model_id: "m", model: "m" },
      ...{ provider_key: "p", request_id: ulid(), client_ip: "", input_characters: 1, created_at: new Date(), streamed: false },
      ...{ expires_at: new Date(Date.now() + 3_600_000), look_at: new Date(), held_tokens: 0, held_micro_usd: 0 },
    },
  ]);
  const due = async () => (await store.takeDue({ most: 1, mostOfOne: 1, underWay: new Map() }, 0))[0];
  const row = await due();
  if (row === undefined) throw new Error("the response is not due");
  const usage = usageOfResponse({ usage: { input_tokens: 10, output_tokens: 20, total_tokens: 30 } });
  if (usage === null) throw new Error("no usage");
  const names: string[] = [];
  const calls = {
    async recordEvent({ claim }: { claim?: (id: string) => Promise<boolean> }) {
      names.push(ulid());
      await claim?.(names[0] as string);
      return false;
    },
  };
  const end = { used: { micros: 1, input: 10, output: 20 }, usage, status: "completed", failed: null };
  expect(await writeUseRow({ store, calls }, row, end)).toBe(false);
  expect((await due())?.settlement_id).toBe(names[0] as string);
  await database.close();
});
