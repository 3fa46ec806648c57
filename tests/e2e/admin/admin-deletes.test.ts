import { afterAll, beforeAll, expect, test } from "bun:test";
import { controlPlane, newTenant, type ControlPlane, type Send } from "./admin-harness.ts";

let plane: ControlPlane;
let owner: Send;

beforeAll(async () => {
  plane = await controlPlane();
  owner = (await newTenant(plane, "acme")).send;
  await owner("POST", "/v1/admin/providers", { provider_key: "p", api_format: "echo" });
});

afterAll(() => plane.close());

const made = async (path: string, body: object): Promise<string> => (await owner("POST", path, body)).body.id;

test.each([
  [
    "llms",
    "llm-models",
    "limits",
    () => made("/v1/admin/llms", { name: "m-limits", provider: "p" }),
    { limits: { requests: { daily_limit: 10 } } },
    { limits: { requests: { daily_limit: 20 } } },
  ],
  [
    "llms",
    "llm-models",
    "governance",
    () => made("/v1/admin/llms", { name: "m-governance", provider: "p" }),
    { governance: { temperature: { max: 0.1 } } },
    { governance: { temperature: { max: 0.2 } } },
  ],
  [
    "mcp-servers",
    "mcp-servers",
    "limits",
    () => made("/v1/admin/mcp-servers", { name: "s", base_url: "http://s.example" }),
    { limits: { frequency: { max_calls_per_day: 10 } } },
    { limits: { frequency: { max_calls_per_day: 20 } } },
  ],
] as const)(
  "deleting one of the %s removes group settings at %s/{id}/%s, which then no longer block moving a group",
  async (records, items, document, make, tight, loose) => {
    const item = await make();
    const [above, group] = [
      await made("/v1/admin/resource-groups", { name: `above ${item}` }),
      await made("/v1/admin/resource-groups", { name: `group ${item}` }),
    ];
    for (const [id, body] of [
      [above, tight],
      [group, loose],
    ] as const)
      expect((await owner("PATCH", `/v1/admin/resource-groups/${id}/${items}/${item}/${document}`, body)).status).toBe(200);
    const move = () => owner("PATCH", `/v1/admin/resource-groups/${group}`, { parent_group_id: above });
    expect((await move()).body.code).toBe("limit_exceeds_inherited");
    expect((await owner("DELETE", `/v1/admin/${records}/${item}`)).status).toBe(204);
    expect((await owner("GET", `/v1/admin/resource-groups/${group}/effective-limits`)).body.refinements).toEqual([]);
    expect((await move()).status).toBe(200);
  },
);

test("a record naming a deleted group can be written back as read, but not with another unknown group", async () => {
  const gone = await made("/v1/admin/resource-groups", { name: "soon gone" });
  const server = await made("/v1/admin/mcp-servers", { name: "named", base_url: "http://named.example" });
  const records = [
    ["/v1/admin/server-configs", { name: "c", mcp_server_id: server, approver_group_ids: [gone] }, "approver_group_ids"],
    ["/v1/admin/virtual-servers", { name: "v", group_ids: [gone] }, "group_ids"],
    ["/v1/admin/guardrails/configs", { name: "g", group_ids: [gone] }, "group_ids"],
  ] as const;
  const ids = [];
  for (const [path, body] of records) ids.push(await made(path, body));
  expect((await owner("DELETE", `/v1/admin/resource-groups/${gone}`)).status).toBe(204);
  for (const [i, [path, , field]] of records.entries()) {
    const one = `${path}/${ids[i]}`;
    const read = (await owner("GET", one)).body[field];
    expect([path, (await owner("PATCH", one, { [field]: read, enabled: false })).status]).toEqual([path, 200]);
    const strange = await owner("PATCH", one, { [field]: [...read, crypto.randomUUID()] });
    expect([strange.status, strange.body.fields[0].field]).toEqual([400, field]);
  }
});

test("concurrent writes and deletes leave no reference to a deleted model or tool server", async () => {
  for (const round of [1, 2, 3]) {
    const model = await made("/v1/admin/llms", { name: `brief ${round}`, provider: "p" });
    const server = await made("/v1/admin/mcp-servers", { name: `brief ${round}`, base_url: `http://brief-${round}.example` });
    const guard = { name: `asks ${round}`, providers: [{ provider: "guard_model", enabled: true, model: `brief ${round}` }] };
    await Promise.all([
      plane.system("PATCH", "/v1/admin/tenants/acme", { default_judge_model_id: model }),
      owner("POST", "/v1/admin/guardrails/configs", guard),
      owner("DELETE", `/v1/admin/llms/${model}`),
      owner("POST", "/v1/admin/virtual-servers", { name: `with ${round}`, mcp_server_ids: [server] }),
      owner("DELETE", `/v1/admin/mcp-servers/${server}`),
    ]);
    const isThere = async (path: string) => (await owner("GET", path)).status === 200;
    const total = async (path: string) => (await owner("GET", path)).body.total;
    const judges = (await plane.system("GET", "/v1/admin/tenants/acme")).body.default_judge_model_id === model;
    const asked = (await total(`/v1/admin/guardrails/configs?search=asks%20${round}`)) > 0;
    expect([await isThere(`/v1/admin/llms/${model}`), await isThere(`/v1/admin/mcp-servers/${server}`)]).toEqual([
      judges || asked,
      (await total(`/v1/admin/virtual-servers?search=with%20${round}`)) > 0,
    ]);
  }
  await plane.system("PATCH", "/v1/admin/tenants/acme", { default_judge_model_id: null });
});

test("a model that a guardrail references by name cannot be renamed; one referenced by ID can", async () => {
  const [byName, byId] = [
    await made("/v1/admin/llms", { name: "guard by name", provider: "p" }),
    await made("/v1/admin/llms", { name: "guard by id", provider: "p" }),
  ];
  const config = await made("/v1/admin/guardrails/configs", {
    name: "two guards",
    providers: ["guard by name", byId].map((model) => ({ provider: "guard_model", enabled: true, model })),
  });
  const rename = (id: string) => owner("PATCH", `/v1/admin/llms/${id}`, { name: `renamed ${id}` });
  const kept = await rename(byName);
  expect([kept.status, kept.body.code, kept.body.dependents]).toEqual([409, "in_use", ["the guardrail configurations two guards"]]);
  expect((await owner("PATCH", `/v1/admin/llms/${byName}`, { name: "guard by name", description: "kept" })).status).toBe(200);
  expect((await rename(byId)).status).toBe(200);
  await owner("PATCH", `/v1/admin/guardrails/configs/${config}`, { providers: [] });
  expect((await rename(byName)).status).toBe(200);
});

test("creates in a tenant that is being deleted answer either 201 or 404", async () => {
  for (const round of [1, 2, 3]) {
    const id = `brief-${round}`;
    await plane.system("POST", "/v1/admin/tenants", { id, name: id });
    const create = (path: string, body: object) => plane.system("POST", `${path}?tenant_id=${id}`, body);
    const [gone, ...others] = await Promise.all([
      plane.system("DELETE", `/v1/admin/tenants/${id}`),
      create("/v1/admin/resource-groups", { name: "g" }),
      create("/v1/admin/providers", { provider_key: "k", api_format: "echo" }),
      create("/v1/admin/guardrails/configs", { name: "c" }),
      create("/v1/admin/end-users", { username: "u", password: "a long enough password" }),
    ]);
    expect([204, 409]).toContain(gone.status);
    for (const other of others) expect([201, 404]).toContain(other.status);
  }
});
