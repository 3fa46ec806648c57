import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { type ControlPlane, controlPlane, newTenant, type TenantWithAdmin } from "./admin-harness.ts";

const CACHES = "/v1/admin/semantic-cache/configs";
const POLICIES = "/v1/admin/semantic-policies";

let plane: ControlPlane;
let acme: TenantWithAdmin;
let beta: TenantWithAdmin;
let group: string;
let chat: string;
let embedding: string;
let strange: { group: string; model: string };

beforeAll(async () => {
  plane = await controlPlane({ fallbackJudge: "last-judge" });
  [acme, beta] = [await newTenant(plane, "acme"), await newTenant(plane, "beta")];
  const make = async (of: TenantWithAdmin, path: string, body: object) => (await of.send("POST", path, body)).body.id as string;
  for (const of of [acme, beta]) await make(of, "/v1/admin/providers", { provider_key: "p", api_format: "echo" });
  group = await make(acme, "/v1/admin/resource-groups", { name: "g" });
  chat = await make(acme, "/v1/admin/llms", { name: "m", provider: "p", mode: "chat" });
  embedding = await make(acme, "/v1/admin/llms", { name: "e", provider: "p", mode: "embedding" });
  strange = {
    group: await make(beta, "/v1/admin/resource-groups", { name: "g" }),
    model: await make(beta, "/v1/admin/llms", { name: "m", provider: "p", mode: "chat" }),
  };
});
afterAll(() => plane.close());

const refusal = ({ status, body }: { status: number; body: any }) => [
  status,
  body.code,
  body.fields?.map(({ field }: { field: string }) => field),
];

describe("a semantic cache configuration", () => {
  test("needs only a name, and is read, changed and deleted", async () => {
    const made = await acme.send("POST", CACHES, { name: "plain" });
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        enabled: true,
        scope: "group",
        exact_match: { enabled: true, ttl_seconds: 3600 },
        semantic_match: { enabled: false, similarity_threshold: 0.95, ttl_seconds: 3600 },
        embedding_model_id: null,
        max_temperature: 0,
        include_tools: false,
        group_ids: [],
      },
    ]);
    const { id } = made.body;
    const changed = await acme.send("PATCH", `${CACHES}/${id}`, {
      exact_match: { ttl_seconds: 60 },
      semantic_match: { enabled: true, similarity_threshold: 0.9 },
      embedding_model_id: embedding,
    });
    expect(changed.body).toMatchObject({
      exact_match: { enabled: true, ttl_seconds: 60 },
      semantic_match: { enabled: true, similarity_threshold: 0.9, ttl_seconds: 3600 },
      embedding_model_id: embedding,
    });
    expect((await acme.send("GET", `${CACHES}?search=plai`)).body).toMatchObject({ total: 1, configs: [{ id }] });
    expect(refusal(await acme.send("DELETE", `/v1/admin/llms/${embedding}`)).slice(0, 2)).toEqual([409, "in_use"]);
    expect((await acme.send("DELETE", `${CACHES}/${id}`)).status).toBe(204);
    expect((await acme.send("GET", `${CACHES}/${id}`)).status).toBe(404);
  });

  test("is refused with each wrong field named", async () => {
    const wrong: [object, string[]][] = [
      [{}, ["name"]],
      [{ name: "x", exact_match: { ttl_seconds: 0 } }, ["exact_match.ttl_seconds"]],
      [{ name: "x", semantic_match: { similarity_threshold: 1.5 } }, ["semantic_match.similarity_threshold"]],
      [{ name: "x", semantic_match: { enabled: "yes" } }, ["semantic_match.enabled"]],
      [{ name: "x", scope: "everybody" }, ["scope"]],
      [{ name: "x", max_temperature: -1, include_tools: 1 }, ["max_temperature", "include_tools"]],
      [{ name: "x", semantic_match: { enabled: true } }, ["embedding_model_id"]],
      [{ name: "x", embedding_model_id: chat }, ["embedding_model_id"]],
      [{ name: "x", embedding_model_id: strange.model }, ["embedding_model_id"]],
      [{ name: "x", group_ids: [strange.group] }, ["group_ids"]],
      [{ name: "x", exact_match: { surprise: 1 } }, ["exact_match.surprise"]],
    ];
    for (const [body, fields] of wrong)
      expect([body, ...refusal(await acme.send("POST", CACHES, body))]).toEqual([body, 400, "invalid_body", fields]);
    const { id } = (await acme.send("POST", CACHES, { name: "twin" })).body;
    expect(refusal(await acme.send("POST", CACHES, { name: "twin" })).slice(0, 2)).toEqual([409, "conflict"]);
    expect(refusal(await acme.send("PATCH", `${CACHES}/${id}`, { semantic_match: { enabled: true } }))).toEqual([
      400,
      "invalid_body",
      ["embedding_model_id"],
    ]);
    expect(refusal(await acme.send("POST", `${CACHES}/${id}/invalidate`, { before: "yesterday" }))).toEqual([
      400,
      "invalid_body",
      ["before"],
    ]);
    expect(refusal(await acme.send("POST", `${CACHES}/${id}/groups?replace=perhaps`, { group_ids: [] })).slice(0, 2)).toEqual([
      400,
      "invalid_query",
    ]);
  });

  test("can be disabled after its model stops serving embeddings", async () => {
    const model = (await acme.send("POST", "/v1/admin/llms", { name: "changing", provider: "p", mode: "embedding" })).body.id;
    const { id } = (
      await acme.send("POST", CACHES, { name: "with a model that changes", embedding_model_id: model, semantic_match: { enabled: true } })
    ).body;
    await acme.send("PATCH", `/v1/admin/llms/${model}`, { modes: ["chat"] });
    expect((await acme.send("PATCH", `${CACHES}/${id}`, { enabled: false })).status).toBe(200);
    expect(refusal(await acme.send("PATCH", `${CACHES}/${id}`, { semantic_match: { enabled: true } }))).toEqual([
      400,
      "invalid_body",
      ["embedding_model_id"],
    ]);
  });

  test("is bound to groups, adding to its bindings or replacing them", async () => {
    const { id } = (await acme.send("POST", CACHES, { name: "bound" })).body;
    const other = (await acme.send("POST", "/v1/admin/resource-groups", { name: "other" })).body.id;
    const bind = (ids: string[], query = "") => acme.send("POST", `${CACHES}/${id}/groups${query}`, { group_ids: ids });
    expect((await bind([group])).body).toEqual({ bound: [group], already_bound: [], group_ids: [group] });
    expect(refusal(await bind([group])).slice(0, 2)).toEqual([409, "already_bound"]);
    expect((await bind([group, other])).body).toMatchObject({ bound: [other], already_bound: [group] });
    expect((await bind([other], "?replace=true")).body.group_ids).toEqual([other]);
    expect(refusal(await bind([strange.group]))).toEqual([400, "invalid_body", ["group_ids"]]);
    expect((await acme.send("DELETE", `/v1/admin/resource-groups/${other}`)).status).toBe(204);
    expect((await acme.send("GET", `${CACHES}/${id}`)).body.group_ids).toEqual([]);
    expect((await beta.send("POST", `${CACHES}/${id}/groups`, { group_ids: [] })).status).toBe(404);
  });
});

describe("a semantic policy", () => {
  test("keeps its judge model from being deleted; the refusal names at most five policies", async () => {
    const judge = (await acme.send("POST", "/v1/admin/llms", { name: "busy judge", provider: "p", mode: "chat" })).body.id;
    const policies = [];
    for (let i = 1; i <= 6; i++)
      policies.push((await acme.send("POST", POLICIES, { name: `rule ${i}`, constraint_text: "Be kind.", judge_model_id: judge })).body.id);
    expect((await acme.send("DELETE", `/v1/admin/llms/${judge}`)).body.dependents).toEqual([
      "the semantic policies rule 1, rule 2, rule 3, rule 4, rule 5 and more",
    ]);
    await acme.send("DELETE", `${POLICIES}/${policies.pop()}`);
    expect((await acme.send("DELETE", `/v1/admin/llms/${judge}`)).body.dependents).toEqual([
      "the semantic policies rule 1, rule 2, rule 3, rule 4, rule 5",
    ]);
    for (const id of policies) await acme.send("DELETE", `${POLICIES}/${id}`);
    expect((await acme.send("DELETE", `/v1/admin/llms/${judge}`)).status).toBe(204);
  });

  test("has strict defaults, is read, changed and deleted, and grants its judge model to its groups while in force", async () => {
    const made = await acme.send("POST", POLICIES, { name: "kind", constraint_text: "Be kind." });
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        action: "block",
        mode: "enforce",
        surfaces: ["chat_input", "chat_output"],
        enabled: true,
        judge_model_id: null,
        on_judge_failure: "block",
        timeout_seconds: 10,
        resource_group_ids: null,
      },
    ]);
    const { id } = made.body;
    const changed = await acme.send("PATCH", `${POLICIES}/${id}`, {
      mode: "shadow",
      judge_model_id: chat,
      resource_group_ids: [group],
      surfaces: ["chat_input", "mcp_input"],
    });
    expect(changed.body).toMatchObject({
      mode: "shadow",
      on_judge_failure: "allow",
      judge_model_id: chat,
      resource_group_ids: [group],
      surfaces: ["chat_input", "mcp_input"],
    });
    expect((await acme.send("PATCH", `${POLICIES}/${id}`, { mode: "enforce" })).body.on_judge_failure).toBe("block");
    const judges = async () => (await acme.send("GET", `/v1/admin/resource-groups/${group}/llm-models`)).body.llm_models;
    expect(await judges()).toMatchObject([{ id: chat, portal_visible: false, judge_only: true, inherited: false }]);
    expect(refusal(await acme.send("DELETE", `/v1/admin/llms/${chat}`)).slice(0, 2)).toEqual([409, "in_use"]);
    // The judge disappears when the policy is disabled, unbound or deleted; the group's log records each time.
    await acme.send("PATCH", `${POLICIES}/${id}`, { enabled: false });
    expect(await judges()).toEqual([]);
    await acme.send("PATCH", `${POLICIES}/${id}`, { enabled: true });
    await acme.send("PATCH", `${POLICIES}/${id}`, { resource_group_ids: [] });
    expect(await judges()).toEqual([]);
    await acme.send("PATCH", `${POLICIES}/${id}`, { resource_group_ids: [group] });
    expect((await acme.send("DELETE", `${POLICIES}/${id}`)).status).toBe(204);
    expect(await judges()).toEqual([]);
    const { entries } = (await acme.send("GET", `/v1/admin/admin-log?resource=group-models&resource_id=${group}`)).body;
    const what = { model_id: chat, semantic_policy_id: id };
    const logged = entries.map(({ action, before, after }: any) => [action, after ?? before]);
    expect(logged.filter(([, { semantic_policy_id: of }]: any) => of === id)).toEqual([
      ["unbind_judge", what],
      ["bind_judge", what],
      ["unbind_judge", what],
      ["bind_judge", what],
      ["unbind_judge", what],
      ["bind_judge", what],
    ]);
  });

  test("does not let an author without permission for groups grant a model by naming it as judge", async () => {
    const judged = (await acme.send("POST", "/v1/admin/resource-groups", { name: "of nobody's model" })).body.id;
    const { send: author } = await newTenant(plane, "acme", "security");
    expect((await author("POST", `/v1/admin/resource-groups/${judged}/llm-models`, { model_ids: [chat] })).status).toBe(403);
    const made = await author("POST", POLICIES, {
      name: "hands out",
      constraint_text: "Be kind.",
      judge_model_id: chat,
      resource_group_ids: [judged],
    });
    expect(made.status).toBe(201);
    const { rows } = await sql`SELECT 1 FROM resource_group_models WHERE group_id = ${judged}`.execute(plane.database.db);
    expect(rows).toEqual([]);
  });

  test("without a judge model grants its groups the fallback judge of the gateway's settings", async () => {
    const judge = (await acme.send("POST", "/v1/admin/llms", { name: "last-judge", provider: "p", mode: "chat" })).body.id;
    const judged = (await acme.send("POST", "/v1/admin/resource-groups", { name: "judged at last" })).body.id;
    await acme.send("POST", POLICIES, { name: "judged at last", constraint_text: "Be kind.", resource_group_ids: [judged] });
    expect((await acme.send("GET", `/v1/admin/resource-groups/${judged}/llm-models`)).body.llm_models).toMatchObject([
      { id: judge, portal_visible: false, judge_only: true },
    ]);
  });

  test("does not hide a judge model that its groups could already use in the portal", async () => {
    const shown = (await acme.send("POST", "/v1/admin/resource-groups", { name: "shown" })).body.id;
    await acme.send("POST", `/v1/admin/resource-groups/${shown}/llm-models`, { model_ids: [chat] });
    await acme.send("POST", POLICIES, { name: "shown", constraint_text: "Be kind.", judge_model_id: chat, resource_group_ids: [shown] });
    expect((await acme.send("GET", `/v1/admin/resource-groups/${shown}/llm-models`)).body.llm_models).toMatchObject([
      { id: chat, portal_visible: true },
    ]);
    const [below, apart] = await Promise.all(
      [true, false].map(
        async (inherit_resources) =>
          (
            await acme.send("POST", "/v1/admin/resource-groups", {
              name: `below ${inherit_resources}`,
              parent_group_id: shown,
              inherit_resources,
            })
          ).body.id,
      ),
    );
    await acme.send("POST", POLICIES, {
      name: "below shown",
      constraint_text: "Be kind.",
      judge_model_id: chat,
      resource_group_ids: [below, apart],
    });
    expect((await acme.send("GET", `/v1/admin/resource-groups/${below}/llm-models`)).body.llm_models).toMatchObject([
      { id: chat, portal_visible: true, inherited: true },
    ]);
    expect((await acme.send("GET", `/v1/admin/resource-groups/${apart}/llm-models`)).body.llm_models).toMatchObject([
      { id: chat, portal_visible: false, inherited: false },
    ]);
  });

  test("is refused with each wrong field named", async () => {
    const good = { name: "x", constraint_text: "Be kind." };
    const wrong: [object, string[]][] = [
      [{}, ["name", "constraint_text"]],
      [{ ...good, constraint_text: "  " }, ["constraint_text"]],
      [{ ...good, action: "redact" }, ["action"]],
      [{ ...good, mode: "on" }, ["mode"]],
      [{ ...good, surfaces: [] }, ["surfaces"]],
      [{ ...good, surfaces: ["chat"] }, ["surfaces.0"]],
      [{ ...good, timeout_seconds: 0 }, ["timeout_seconds"]],
      [{ ...good, on_judge_failure: "warn" }, ["on_judge_failure"]],
      [{ ...good, judge_model_id: embedding }, ["judge_model_id"]],
      [{ ...good, judge_model_id: strange.model }, ["judge_model_id"]],
      [{ ...good, resource_group_ids: [strange.group] }, ["resource_group_ids"]],
    ];
    for (const [body, fields] of wrong)
      expect([body, ...refusal(await acme.send("POST", POLICIES, body))]).toEqual([body, 400, "invalid_body", fields]);
    expect((await acme.send("GET", `${POLICIES}?search=x`)).body.total).toBe(0);
  });
});

describe("a guardrail configuration with a guard model", () => {
  const GUARDRAILS = "/v1/admin/guardrails/configs";
  const asking = (name: string, model: string) => ({
    name,
    group_ids: [group, group],
    providers: [
      { provider: "webhook", endpoint: "https://guard.example/v1" },
      { provider: "guard_model", model },
    ],
  });

  test("must name a chat model of its tenant, or the field is refused", async () => {
    for (const model of ["not-there", strange.model, "e", embedding])
      expect([model, ...refusal(await acme.send("POST", GUARDRAILS, asking("unjudged", model)))]).toEqual([
        model,
        400,
        "invalid_body",
        ["providers.1.model"],
      ]);
    const { id } = (await acme.send("POST", GUARDRAILS, asking("judged by name", "m"))).body;
    expect(refusal(await acme.send("PATCH", `${GUARDRAILS}/${id}`, { providers: asking("", "gone").providers }))).toEqual([
      400,
      "invalid_body",
      ["providers.1.model"],
    ]);
    expect((await acme.send("GET", `${GUARDRAILS}/${id}`)).body).toMatchObject({ group_ids: [group], providers: [{}, { model: "m" }] });
    expect((await acme.send("DELETE", `${GUARDRAILS}/${id}`)).status).toBe(204);
  });

  test("may rely on the tenant's default judge, which must be a chat model of the tenant", async () => {
    const name = (default_judge_model_id: string | null) => plane.system("PATCH", "/v1/admin/tenants/acme", { default_judge_model_id });
    for (const model of [embedding, strange.model, crypto.randomUUID()])
      expect(refusal(await name(model))).toEqual([400, "invalid_body", ["default_judge_model_id"]]);
    expect((await name(chat)).status).toBe(200);
    expect((await name(null)).status).toBe(200);
  });

  test("keeps its guard model from being deleted", async () => {
    const made = (await acme.send("POST", "/v1/admin/llms", { name: "watchman", provider: "p", mode: "chat" })).body.id;
    const configs = [];
    for (const [name, model] of [
      ["watched by name", "watchman"],
      ["watched by id", made],
    ] as const)
      configs.push((await acme.send("POST", GUARDRAILS, asking(name, model))).body.id);
    const kept = await acme.send("DELETE", `/v1/admin/llms/${made}`);
    expect([kept.status, kept.body.code, kept.body.dependents]).toEqual([
      409,
      "in_use",
      ["the guardrail configurations watched by id, watched by name"],
    ]);
    for (const id of configs) expect((await acme.send("DELETE", `${GUARDRAILS}/${id}`)).status).toBe(204);
    expect((await acme.send("DELETE", `/v1/admin/llms/${made}`)).status).toBe(204);
  });
});
