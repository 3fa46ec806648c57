import { afterAll, beforeAll, expect, test } from "bun:test";
import { controlPlane, newTenant, type ControlPlane, type Send } from "./admin-harness.ts";

/** Administrators who change the same record concurrently: every change that was acknowledged takes effect. */

let plane: ControlPlane;
let send: Send;
let groups: string[];

beforeAll(async () => {
  plane = await controlPlane();
  ({ send } = await newTenant(plane, "acme"));
  groups = await Promise.all(Array.from({ length: 6 }, (_, i) => made("/v1/admin/resource-groups", { name: `group ${i}` })));
});
afterAll(() => plane.close());

async function made(path: string, body: object): Promise<string> {
  const reply = await send("POST", path, body);
  if (reply.status !== 201) throw new Error(JSON.stringify(reply.body));
  return reply.body.id;
}

const RULES = { target: "t", analyzer: "values", argument_key: "v", rules: [{ deny_if: "in", values: ["x"], message: "no" }] };

test.each([
  ["an argument policy", "/v1/admin/argument-policies", { name: "policy", ...RULES, group_ids: [] }],
  ["a semantic cache", "/v1/admin/semantic-cache/configs", { name: "cache" }],
] as const)("%s keeps every binding when groups are bound concurrently", async (_what, path, body) => {
  const id = await made(path, body);
  const replies = await Promise.all(groups.map((group) => send("POST", `${path}/${id}/groups`, { group_ids: [group] })));
  expect(replies.map(({ status }) => status)).toEqual(groups.map(() => 200));
  expect((await send("GET", `${path}/${id}`)).body.group_ids).toEqual([...groups].sort());
  const again = await Promise.all(groups.map(() => send("POST", `${path}/${id}/groups`, { group_ids: groups })));
  expect(again.map(({ status }) => status)).toEqual(groups.map(() => 409));
});

test("concurrent unbinding from an argument policy succeeds once per group and keeps the other groups", async () => {
  const id = await made("/v1/admin/argument-policies", { name: "loses groups", ...RULES, group_ids: groups });
  const [kept, ...gone] = groups;
  const replies = await Promise.all(
    [...gone, ...gone].map((group) => send("DELETE", `/v1/admin/argument-policies/${id}/groups`, { group_ids: [group] })),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([...gone.map(() => 200), ...gone.map(() => 404)]);
  expect((await send("GET", `/v1/admin/argument-policies/${id}`)).body.group_ids).toEqual([kept]);
});
