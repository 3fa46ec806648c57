import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { GROUPS, type LimitedWorld, startLimitedWorld } from "../../support/worlds/limited-world.ts";

let world: LimitedWorld["world"];
let team: LimitedWorld["team"];
let limit: LimitedWorld["limit"];
let chat: LimitedWorld["chat"];

beforeAll(async () => {
  ({ world, team, limit, chat } = await startLimitedWorld());
});
afterAll(() => world.end());

test("a preview reports what changed limits would change, and refuses what saving them would refuse", async () => {
  const parent = await team("preview-parent");
  const child = await team("preview-child", parent.id);
  await limit(child.id, { requests: { daily_limit: 50 }, throughput: { max_requests_per_minute: 100 } });
  const preview = (llm_global_limits: object, id = parent.id) =>
    world.admin.request("POST", `${GROUPS}/${id}/llm-global-limits/preview`, { llm_global_limits });
  expect((await chat(parent.key)).status).toBe(200);
  await rowOf(world.admin, { resource_group_id: parent.id, success: true });

  const told = await preview({ requests: { daily_limit: 1 }, throughput: { max_requests_per_minute: 500 } });
  expect(told.status).toBe(200);
  expect(told.body.effective).toEqual({ requests: { daily_limit: 1 }, throughput: { max_requests_per_minute: 500 } });
  const change = (group: { id: string }, name: string, field: string, before: unknown, after: unknown) => ({
    group_id: group.id,
    group_name: name,
    item_id: null,
    field,
    before,
    after,
  });
  // The child's own 100 requests a minute are stricter than what it would inherit.
  expect(told.body.changes).toEqual([
    change(parent, "preview-parent", "requests.daily_limit", null, 1),
    change(parent, "preview-parent", "throughput.max_requests_per_minute", null, 500),
    change(child, "preview-child", "requests.daily_limit", 50, 1),
  ]);
  expect(told.body).toMatchObject({ changes_total: 3, spent: [{ limit_type: "daily_requests", current: 1, limit: 1, blocks: true }] });
  expect((await world.admin.get(`${GROUPS}/${parent.id}/llm-global-limits`)).llm_global_limits).toEqual({});
  expect((await chat(parent.key)).status).toBe(200);

  await limit(parent.id, { requests: { daily_limit: 100 } });
  const loose = await preview({ requests: { daily_limit: 101 } }, child.id);
  expect([loose.status, loose.body.code]).toEqual([400, "limit_exceeds_inherited"]);
  expect((await preview({ requests: { daily_limit: "many" } })).status).toBe(400);
});
