import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowsOf, type Served, serveModels } from "../../support/worlds/admin.ts";
import { type FakeJudge, startFakeJudge } from "../../support/vendors/fake-judge.ts";
import { startWorld, type World } from "../../support/world.ts";

const POLICIES = "/v1/admin/semantic-policies";
const tenant = { tenant_id: "default" };
let world: World;
let judge: FakeJudge;
let admin: AdminClient;
let served: Served;
let policy: { id: string };

beforeAll(async () => {
  world = await startWorld();
  judge = startFakeJudge();
  ({ admin } = world);
  served = await serveModels(admin, world.upstream.baseUrl, ["fake-1"]);
  const provider = { provider_key: "judges", name: "judges", api_format: "openai", base_url: judge.baseUrl, api_key: "sk-judge-0001" };
  await admin.post("/v1/admin/providers", { ...tenant, ...provider });
  const model = await admin.post("/v1/admin/llms", { ...tenant, name: "judge-1", provider: "judges", mode: "chat" });
  policy = await admin.post(POLICIES, {
    ...tenant,
    name: "no dragons",
    constraint_text: "Nothing may speak of dragons.",
    judge_model_id: model.id,
    mode: "shadow",
    resource_group_ids: [served.groupId],
  });
});
afterAll(async () => {
  await world.end();
  await judge.stop();
});

const tried = (body: object) => admin.post(`${POLICIES}/${policy.id}/test`, body);

test("a semantic policy is tried on a text, with its own or another constraint, with a row for the judge's call", async () => {
  const hit = await tried({ text: "a dragon flies" });
  expect(hit).toMatchObject({ verdict: "violation", reason: "it was looked at", action: "none", from_memory: false });
  expect((await admin.request("PATCH", `${POLICIES}/${policy.id}`, { mode: "enforce" })).status).toBe(200);
  expect(await tried({ text: "a dragon flies" })).toMatchObject({ verdict: "violation", action: "block", from_memory: true });
  expect(await tried({ text: "a horse runs", surface: "chat_output" })).toMatchObject({ verdict: "compliant", action: "none" });
  const other = { text: "a horse runs", constraint_text: "Nothing may speak of horses." };
  expect(await tried(other)).toMatchObject({ verdict: "violation", action: "block" });
  expect(await tried({ text: "broken-judge" })).toMatchObject({ verdict: "failed", action: "block" });
  const rows = await rowsOf(admin, { proxy_subtype: "semantic_policy_judge", resource_group_id: served.groupId }, 4);
  expect(rows.length).toBe(4);
  for (const row of rows) expect([row.semantic_policy_id, row.resource_group_id]).toEqual([policy.id, served.groupId]);
});

test("a trial of a policy for all groups must name the group whose budget pays", async () => {
  const everywhere = await admin.post(POLICIES, { ...tenant, name: "everywhere", constraint_text: "No owls.", resource_group_ids: null });
  const path = `${POLICIES}/${everywhere.id}/test`;
  const unpaid = await admin.request("POST", path, { text: "x" });
  expect([unpaid.status, unpaid.body.fields?.[0].field]).toEqual([400, "resource_group_id"]);
  const strange = await admin.request("POST", path, { text: "x", resource_group_id: "00000000-0000-4000-8000-000000000000" });
  expect([strange.status, strange.body.fields?.[0].field]).toEqual([400, "resource_group_id"]);
  const paid = await admin.request("POST", path, { text: "x", resource_group_id: served.groupId });
  expect([paid.status, paid.body]).toMatchObject([200, { verdict: "failed", reason: "there is no judge model" }]);
});
