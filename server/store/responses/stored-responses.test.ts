import { expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase } from "../../../tests/support/database.ts";
import { ulid } from "../../kernel/ids.ts";
import * as responses from "./stored-responses.ts";

const HOUR_MS = 3_600_000;
const TURNS = { most: 10, mostOfOne: 10, underWay: new Map() };

test("a stored response keeps its owner, disappears when it expires, and is settled exactly once", async () => {
  const database = await testDatabase();
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(db);
  const groups = [crypto.randomUUID(), crypto.randomUUID()] as const;
  for (const id of groups)
    await sql`INSERT INTO resource_groups (id, tenant_id, name, group_type) VALUES (${id}, 't', ${id}, 'team')`.execute(db);
  const row = (id: string, groupId: string, more: object = {}): responses.NewStoredResponse => ({
    ...{ tenant_id: "t", id, resource_group_id: groupId, end_user_id: null, api_key_id: null, model_id: "m", model: "m" },
    ...{ provider_key: "p", request_id: ulid(), client_ip: "", input_characters: 1, created_at: new Date(), streamed: false },
    ...{ expires_at: new Date(Date.now() + HOUR_MS), held_tokens: 0, held_micro_usd: 0, ...more },
  });
  const owner = (groupId: string) => ({ tenantId: "t", groupId, userId: null });
  const [mine, theirs] = [row("resp_1", groups[0]), row("resp_1", groups[1])];
  expect(await responses.insertStoredResponses(db, [mine, theirs])).toEqual(new Set([mine.request_id]));
  expect(await responses.insertStoredResponses(db, [theirs, row("resp_2", crypto.randomUUID())])).toEqual(new Set());
  expect((await responses.findStoredResponse(db, owner(groups[0]), "resp_1"))?.request_id).toBe(mine.request_id);
  expect(await responses.findStoredResponse(db, owner(groups[1]), "resp_1")).toBeUndefined();

  const over = { expires_at: new Date(Date.now() - HOUR_MS) };
  const open = row("resp_4", groups[0], { ...over, look_at: new Date(Date.now() - HOUR_MS) });
  await responses.insertStoredResponses(db, [row("resp_3", groups[0], over), open]);
  expect(await responses.findStoredResponse(db, owner(groups[0]), "resp_3")).toBeUndefined();
  for (let twice = 0; twice < 2; twice++) await responses.sweepStoredResponses(db);
  const left = await sql<{ id: string }>`SELECT id FROM stored_responses ORDER BY id`.execute(db);
  expect(left.rows.map(({ id }) => id)).toEqual(["resp_1", "resp_4"]);

  const [taken] = await responses.takeDueResponses(db, TURNS, HOUR_MS);
  expect([taken?.id, await responses.takeDueResponses(db, TURNS, HOUR_MS)]).toEqual(["resp_4", []]);
  const used = { micros: 1, input: 1, output: 1 };
  const claims = ["a", "b", "c"].map((id) => responses.claimResponseSettlement(db, taken as responses.StoredResponseRow, id, used));
  expect((await Promise.all(claims)).filter(Boolean).length).toBe(1);
  expect(await responses.deleteStoredResponse(db, owner(groups[0]), "resp_4")).toBe(false);
  await responses.noteResponseSettled(db, taken as responses.StoredResponseRow);
  expect(await responses.settledResponses(db, [open, mine, { ...open, id: "never" }])).toHaveLength(3);
  await responses.sweepStoredResponses(db);
  expect(await responses.deleteStoredResponse(db, owner(groups[0]), "resp_1")).toBe(true);
  await database.close();
});
