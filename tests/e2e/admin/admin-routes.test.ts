import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hkdfSync } from "node:crypto";
import { secretBox } from "../../../server/kernel/secrets.ts";
import { paramsOf } from "../../../server/surfaces/openapi/schema-of.ts";
import type { AdminOperation } from "../../../server/surfaces/admin/operation.ts";
import { OPERATIONS } from "../../../server/surfaces/admin/routes.ts";
import { adminTokens } from "../../../server/directory/people/admin-tokens.ts";
import { PortalTokens } from "../../../server/directory/people/portal/portal-tokens.ts";
import { requestApproval } from "../../../server/directory/tools/approvals.ts";
import { systemClock } from "../../../server/kernel/clock.ts";
import { BODIES, FORMS, WITHOUT_BODY } from "../../support/records/admin-route-bodies.ts";
import { batchJobRecord } from "../../support/records/batch-job-record.ts";
import { discoveryRecords } from "../../support/records/discovery-records.ts";
import { approvalDemand } from "../../support/records/approvals.ts";
import {
  ADMIN_PASSWORD,
  controlPlane,
  JWT_SECRET,
  SECRET_KEY,
  newTenant,
  type ControlPlane,
  type Send,
  type TenantWithAdmin,
} from "./admin-harness.ts";

const nameOf = (operation: AdminOperation) => `${operation.method} ${operation.path}`;
const guarded = OPERATIONS.filter((operation) => operation.access !== "anyone");
const withBody = OPERATIONS.filter((operation) => operation.body !== undefined);
const cases = (operations: readonly AdminOperation[]) => operations.map((operation) => [nameOf(operation), operation] as const);

let plane: ControlPlane;
let acme: TenantWithAdmin;
let beta: TenantWithAdmin;
let powerless: Send;
/** For each path with an `{id}`, a record of acme. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  plane = await controlPlane();
  acme = await newTenant(plane, "acme");
  beta = await newTenant(plane, "beta");
  powerless = (await newTenant(plane, "acme", "viewer")).send;
  await plane.database.db.updateTable("admin_users").set({ role: "none" }).where("username", "=", "viewer-of-acme").execute();
  ids["/v1/admin/tenants"] = "acme";
  ids["/v1/admin/admin-users"] = acme.admin.id;
  ids["/v1/admin/providers"] = (await acme.send("POST", "/v1/admin/providers", { provider_key: "p", api_format: "echo" })).body.id;
  ids["/v1/admin/usage-import/providers"] = ids["/v1/admin/providers"] ?? "";
  ids["/v1/admin/llms"] = (await acme.send("POST", "/v1/admin/llms", { name: "m", provider: "p" })).body.id;
  ids["/v1/admin/llm-router/routing-groups"] = (
    await acme.send("POST", "/v1/admin/llm-router/routing-groups", { id: "routed-by-acme" })
  ).body.id;
  ids["/v1/admin/resource-groups"] = (await acme.send("POST", "/v1/admin/resource-groups", { name: "g" })).body.id;
  ids["/v1/admin/ai-systems"] = ids["/v1/admin/resource-groups"] ?? "";
  await acme.send("POST", "/v1/admin/ai-systems", { group_id: ids["/v1/admin/ai-systems"] });
  ids["/v1/admin/contracts"] = (await acme.send("POST", `/v1/admin/ai-systems/${ids["/v1/admin/ai-systems"]}/contracts`, {})).body.id;
  ids["/v1/admin/incident-windows"] = (
    await acme.send("POST", "/v1/admin/incident-windows", { title: "of acme", severity: "sev1", started_at: "2026-01-01T00:00:00Z" })
  ).body.id;
  ids["/v1/admin/response-policies"] = (
    await acme.send("POST", "/v1/admin/response-policies", { name: "of acme", finding_kinds: ["model_drift"], action: "suspend" })
  ).body.id;
  ids["/v1/admin/compliance/reports"] = (await acme.send("POST", "/v1/admin/compliance/reports", { framework: "soc2" })).body.id;
  ids["/v1/admin/drift"] = crypto.randomUUID();
  const seen = { first_seen: new Date(), last_seen: new Date() };
  await plane.database.db
    .insertInto("drift_findings")
    .values({
      id: ids["/v1/admin/drift"],
      tenant_id: "acme",
      ai_system_id: ids["/v1/admin/ai-systems"] ?? "",
      kind: "model_drift",
      severity: "high",
      subject: "m",
      title: "of acme",
      ...seen,
    })
    .execute();
  await acme.send("POST", `/v1/admin/resource-groups/${ids["/v1/admin/resource-groups"]}/llm-models`, {
    model_ids: [ids["/v1/admin/llms"]],
  });
  ids["/v1/admin/mcp-servers"] = (
    await acme.send("POST", "/v1/admin/mcp-servers", { name: "t", base_url: "http://tools.example" })
  ).body.id;
  ids["/v1/admin/server-configs"] = (
    await acme.send("POST", "/v1/admin/server-configs", { name: "c", mcp_server_id: ids["/v1/admin/mcp-servers"] })
  ).body.id;
  ids["/v1/admin/virtual-servers"] = (await acme.send("POST", "/v1/admin/virtual-servers", { name: "v" })).body.id;
  ids["/v1/admin/approvals"] = (await requestApproval(plane.directory, approvalDemand("acme", ids["/v1/admin/resource-groups"] ?? ""))).id;
  ids["/v1/admin/agents"] = (
    await acme.send("POST", "/v1/admin/agents", { card_name: "a", name: "a", base_url: "http://a.example" })
  ).body.id;
  ids["/v1/admin/agent-grants"] = (
    await acme.send("POST", "/v1/admin/agent-grants", { agent_id: ids["/v1/admin/agents"], group_ids: [ids["/v1/admin/resource-groups"]] })
  ).body.id;
  ids["/v1/admin/agent-skills"] = (
    await acme.send("POST", "/v1/admin/agent-skills/import", {
      files: [{ path: "SKILL.md", content: "---\nname: s\ndescription: d\n---\n" }],
    })
  ).body.skill.id;
  const made = async (path: string, body: object) => (ids[path] = (await acme.send("POST", path, body)).body.id);
  await made("/v1/admin/webhooks", { name: "hook-of-acme", url: "http://hooks.example/a" });
  await made("/v1/admin/web-search", { name: "search-of-acme", kind: "searxng", base_url: "http://searxng.example" });
  ids["/v1/admin/knowledgebases"] = (await acme.send("POST", "/v1/admin/knowledgebases", { name: "knowledge-of-acme" })).body.id;
  const connector = { name: "c", knowledge_base_id: ids["/v1/admin/knowledgebases"], connector_type: "directory", location: "x" };
  ids["/v1/admin/kb-connectors"] = (await acme.send("POST", "/v1/admin/kb-connectors", connector)).body.id;
  Object.assign(ids, await discoveryRecords(plane.database.db, acme.send));
  ids["/v1/admin/guardrails/configs"] = (await acme.send("POST", "/v1/admin/guardrails/configs", { name: "guarded-by-acme" })).body.id;
  const judged = { target: "t", argument_key: "a", analyzer: "shell", rules: [{ deny_if: "chaining", message: "x" }] };
  await made("/v1/admin/argument-policies", { name: "judged-by-acme", ...judged });
  await made("/v1/admin/semantic-cache/configs", { name: "cache-of-acme" });
  await made("/v1/admin/semantic-policies", { name: "policy-of-acme", constraint_text: "Be kind." });
  ids["/v1/admin/end-users"] = (await acme.send("POST", "/v1/admin/end-users", { username: "u", password: "long enough" })).body.user.id;
  const identity = { end_user_id: ids["/v1/admin/end-users"], connector_type: "git", source_identity: "u" };
  ids["/v1/admin/kb-identities"] = (await acme.send("POST", "/v1/admin/kb-identities", identity)).body.id;
  ids["/v1/admin/end-user-groups"] = (await acme.send("POST", "/v1/admin/end-user-groups", { name: "eg" })).body.id;
  const oidc = { issuer: "https://issuer.example", client_id: "c" };
  await made("/v1/admin/identity-providers", { kind: "oidc", audience: "portal", name: "p", oidc });
  ids["/v1/admin/scim-tokens"] = (await acme.send("POST", "/v1/admin/scim-tokens", { name: "t" })).body.id;
  ids["/v1/admin/batch-jobs"] = await batchJobRecord(plane.database.db, "acme", ids["/v1/admin/resource-groups"] ?? "");
  ids["/v1/admin/api-keys"] = (
    await acme.send("POST", `/v1/admin/resource-groups/${ids["/v1/admin/resource-groups"]}/api-keys`, { name: "k" })
  ).body.id;
});
afterAll(() => plane.close());

function pathWith(operation: AdminOperation, id: string): string {
  return operation.path
    .replace("{id}", id)
    .replace("{model}", "m")
    .replace("{model_id}", ids["/v1/admin/llms"] ?? "")
    .replace("{server_id}", "mcp-1")
    .replace("{skill_id}", ids["/v1/admin/agent-skills"] ?? "")
    .replace("{version}", "1")
    .replace("{document_id}", crypto.randomUUID())
    .replace("{account_id}", crypto.randomUUID())
    .replace("{eid}", crypto.randomUUID())
    .replace("{rid}", crypto.randomUUID())
    .replace("{run_id}", crypto.randomUUID())
    .replace("{statement}", "no.statement")
    .replace("{slug}", "no-standard")
    .replace("{task_id}", "no-task")
    .replace("{chain_id}", "no-chain");
}

/** The operation's path with the ID of acme's record. */
function acmePath(operation: AdminOperation): string {
  const base = operation.path.split("/{id}")[0] ?? "";
  const id = ids[base];
  if (operation.path.includes("{id}") && id === undefined) throw new Error(`the table has no record for ${operation.path}`);
  return pathWith(operation, id ?? "");
}

/** The admin log entries for a refused attempt, once all pending attempts are written. */
async function refusalsOf(reply: { headers: Headers }): Promise<unknown[]> {
  await plane.attempts.write("all");
  return plane.database.db
    .selectFrom("admin_log")
    .select(["tenant_id", "actor_username", "action", "resource", "resource_id", "client_ip", "after"])
    .where("request_id", "=", reply.headers.get("x-request-id"))
    .execute();
}

const attempt = (operation: AdminOperation, reason: string, who: { tenant_id: string; actor_username: string } | { client_ip: string }) => [
  {
    tenant_id: null,
    actor_username: null,
    client_ip: "10.0.0.1",
    ...who,
    action: "refused",
    resource: nameOf(operation),
    resource_id: null,
    after: { reason, attempts: 1, since: expect.any(String) },
  },
];

describe("missing, expired or wrong kind of credential: 401, recorded in the admin log", () => {
  let tokens: string[];
  beforeAll(async () => {
    const past = { ...systemClock(), now: () => Date.now() - 7_200_000 };
    const settings = { keys: secretBox(SECRET_KEY).keys("admin-token"), expirySeconds: 3_600, clock: past };
    // Tokens that someone with the portal's secret could forge.
    const forged = ["", "gatehouse/admin-token"].map((purpose) =>
      purpose === "" ? new TextEncoder().encode(JWT_SECRET) : new Uint8Array(hkdfSync("sha256", JWT_SECRET, "", purpose, 32)),
    );
    const { id, username } = acme.admin;
    const row = await plane.database.db.selectFrom("admin_users").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    const portal = new PortalTokens({ secret: JWT_SECRET, expirySeconds: 3_600, clock: systemClock() });
    const key = await acme.send("POST", `/v1/admin/resource-groups/${ids["/v1/admin/resource-groups"]}/api-keys`, {
      name: "of another kind",
    });
    const user = { id: ids["/v1/admin/end-users"] ?? "", tenant_id: "acme", username, email: null, tokens_valid_from: new Date(0) };
    tokens = [
      "nonsense",
      await adminTokens(settings).issue(row),
      await portal.issue(user),
      await portal.issue({ ...user, id }),
      ...(await Promise.all(forged.map((made) => adminTokens({ keys: [made], expirySeconds: 3_600, clock: systemClock() }).issue(row)))),
      key.body.key_value,
    ];
  });
  test.each(cases(guarded))("%s", async (_name, operation) => {
    const shown: [Record<string, string>, string][] = [
      [{}, "credential_missing"],
      [{ authorization: "Basic eDp5" }, "credential_malformed"],
    ];
    for (const [index, token] of tokens.entries())
      shown.push([{ authorization: `Bearer ${token}` }, index === 1 ? "credential_expired" : "credential_unknown"]);
    for (const [headers, reason] of shown) {
      const reply = await plane.send(operation.method, acmePath(operation), BODIES[nameOf(operation)], headers);
      expect([reply.status, reply.headers.get("www-authenticate"), reply.body]).toEqual([
        401,
        "Bearer",
        { detail: "Missing or invalid credential.", code: "unauthenticated" },
      ]);
      expect(await refusalsOf(reply)).toEqual(attempt(operation, reason, { client_ip: "10.0.0.1" }));
    }
  });
});

describe("missing permission: 403, and refused writes are recorded in the admin log", () => {
  const needing = guarded.filter((operation) => operation.access !== "signed_in");
  test.each(cases(needing))("%s", async (_name, operation) => {
    const path = acmePath(operation);
    const reply = await powerless(operation.method, path, BODIES[nameOf(operation)]);
    expect([reply.status, reply.body.code]).toEqual([403, "forbidden"]);
    const entries = await plane.database.db
      .selectFrom("admin_log")
      .select(["tenant_id", "actor_username", "action", "resource", "resource_id", "after"])
      .where("request_id", "=", reply.headers.get("x-request-id"))
      .execute();
    const id = operation.path.includes("{id}") ? ids[operation.path.split("/{id}")[0] ?? ""] : null;
    const told = {
      tenant_id: "acme",
      actor_username: "viewer-of-acme",
      action: "refused",
      resource: nameOf(operation),
      resource_id: id,
      after: { reason: reply.body.detail },
    };
    expect(entries as unknown[]).toEqual(operation.method === "GET" ? [] : [told]);
  });
});

describe("malformed body: 400 naming the field, recorded in the admin log; body too large: 413", () => {
  let token: string;
  beforeAll(async () => {
    token = (await plane.logIn("admin", ADMIN_PASSWORD)).body.access_token;
  });
  test.each(cases(withBody))("%s", async (_name, operation) => {
    const path = acmePath(operation);
    const strange = await plane.system(operation.method, path, { ...(BODIES[nameOf(operation)] as object), surprise: 1 });
    expect([strange.status, strange.body.code, strange.body.fields]).toEqual([
      400,
      "invalid_body",
      [{ field: "surprise", message: "is not known here" }],
    ]);
    expect(await refusalsOf(strange)).toMatchObject([
      {
        actor_username: operation.access === "anyone" ? null : "admin",
        action: "refused",
        resource: nameOf(operation),
        after: { reason: "invalid_body", attempts: 1 },
      },
    ]);
    const raw = (body: string, type = "application/json") =>
      plane.fetch(
        new Request(`http://x${path}`, {
          method: operation.method,
          body,
          headers: { "content-type": type, authorization: `Bearer ${token}` },
        }),
      );
    expect((await raw("{")).status).toBe(400);
    expect((await raw("[1]")).status).toBe(400);
    expect((await raw("{}", "text/plain")).status).toBe(400);
    expect((await raw(`{"a":"\\u0000"}`)).status).toBe(400);
    const large = await raw(`"${"x".repeat(1_048_577)}"`);
    expect([large.status, ((await large.json()) as any).code]).toEqual([413, "body_too_large"]);
    expect(await refusalsOf(large)).toMatchObject([{ resource: nameOf(operation), after: { reason: "body_too_large", attempts: 1 } }]);
  });
});

describe("uploads that are not a form or have no valid file: 400; too large: 413", () => {
  test.each(Object.entries(FORMS))("%s", async (name, mostBytes) => {
    const operation = OPERATIONS.find((one) => nameOf(one) === name) as AdminOperation;
    const token = (await plane.logIn("admin", ADMIN_PASSWORD)).body.access_token;
    const post = (body: string | FormData, type: Record<string, string> = {}) =>
      plane.fetch(
        new Request(`http://x${acmePath(operation)}`, {
          method: "POST",
          body,
          headers: { ...type, authorization: `Bearer ${token}`, "x-tenant-id": "acme" },
        }),
      );
    const form = (field: string, size: number) => {
      const data = new FormData();
      data.set(field, new File([new Uint8Array(size)], "x.png"));
      return data;
    };
    for (const reply of [
      await post("{}", { "content-type": "application/json" }),
      await post(form("other", 1)),
      await post(form("file", 1)),
    ]) {
      expect([reply.status, ((await reply.json()) as any).fields[0].field]).toEqual([400, "file"]);
    }
    const large = await post(form("file", mostBytes));
    expect([large.status, ((await large.json()) as any).code]).toEqual([413, "body_too_large"]);
  });

  test("every write without a JSON body is listed as a form or as having no body", () => {
    const writes = OPERATIONS.filter(({ method, body }) => method !== "GET" && method !== "DELETE" && body === undefined).map(nameOf);
    expect(writes.filter((name) => !(name in FORMS) && !WITHOUT_BODY.has(name))).toEqual([]);
  });
});

describe("unknown or invalid ID: 404", () => {
  const named = guarded.filter((operation) => paramsOf(operation.path).length > 0);
  test.each(cases(named))("%s", async (_name, operation) => {
    for (const id of [crypto.randomUUID(), "not-an-id", "%00", "..%2f..%2fetc"]) {
      for (const send of [plane.system, acme.send]) {
        if (operation.access === "system" && send === acme.send) continue;
        const reply = await send(operation.method, pathWith(operation, id), BODIES[nameOf(operation)]);
        expect([id, reply.status, typeof reply.body.detail]).toEqual([id, 404, "string"]);
      }
    }
  });
});

describe("an administrator of another tenant can read and change nothing", () => {
  const tenantHeld = guarded.filter((operation) => operation.reach !== "none");
  test.each(cases(tenantHeld))("%s", async (_name, operation) => {
    const reply = await beta.send(operation.method, acmePath(operation), BODIES[nameOf(operation)]);
    expect(reply.body?.tenant_id).not.toBe("acme");
    if (operation.path.includes("{")) {
      expect(reply.status).toBe(404);
      expect(await refusalsOf(reply)).toEqual(
        operation.method === "GET" ? [] : attempt(operation, reply.body.code, { tenant_id: "beta", actor_username: "owner-of-beta" }),
      );
    }
    for (const id of Object.values(ids)) if (id !== "acme") expect(JSON.stringify(reply.body)).not.toContain(id);
    for (const [query, headers] of [
      ["?tenant_id=acme", {}],
      ["?tenant_id=nowhere", {}],
      ["", { "x-tenant-id": "acme" }],
    ] as const) {
      const named = await beta.send(operation.method, acmePath(operation) + query, BODIES[nameOf(operation)], headers);
      expect([named.status, named.body.code]).toEqual([403, "forbidden"]);
      if (operation.method !== "GET")
        expect(await refusalsOf(named)).toMatchObject([
          { tenant_id: "beta", actor_username: "owner-of-beta", action: "refused", resource: nameOf(operation) },
        ]);
    }
  });

  test("a tenant's administrator may not call the routes for tenants", async () => {
    for (const operation of OPERATIONS.filter(({ access }) => access === "system")) {
      expect((await acme.send(operation.method, acmePath(operation), BODIES[nameOf(operation)])).status).toBe(403);
    }
  });

  test("records of another tenant cannot be bound, nor named as parent, provider or judge model", async () => {
    const group = (await beta.send("POST", "/v1/admin/resource-groups", { name: "own" })).body.id;
    const bind = await beta.send("POST", `/v1/admin/resource-groups/${group}/llm-models`, { model_ids: [ids["/v1/admin/llms"]] });
    const child = await beta.send("POST", "/v1/admin/resource-groups", {
      name: "child",
      parent_group_id: ids["/v1/admin/resource-groups"],
    });
    const moved = await beta.send("PATCH", `/v1/admin/resource-groups/${group}`, { parent_group_id: ids["/v1/admin/resource-groups"] });
    const model = await beta.send("POST", "/v1/admin/llms", { name: "m2", provider: "p" });
    const judge = await plane.system("PATCH", "/v1/admin/tenants/beta", { default_judge_model_id: ids["/v1/admin/llms"] });
    expect([bind, child, moved, model, judge].map((reply) => [reply.status, reply.body.fields[0].field])).toEqual([
      [400, "model_ids"],
      [400, "parent_group_id"],
      [400, "parent_group_id"],
      [400, "provider"],
      [400, "default_judge_model_id"],
    ]);
  });
});

describe("the admin log", () => {
  test("has an entry for every write, and its entries cannot be changed or deleted", async () => {
    const writes = (
      await Promise.all(
        ["create", "bind", "login"].map((action) => plane.system("GET", `/v1/admin/admin-log?page_size=200&action=${action}`)),
      )
    ).flatMap(({ body }) => body.entries);
    const seen = new Set(writes.map((entry: { resource: string; action: string }) => `${entry.resource} ${entry.action}`));
    for (const wanted of [
      "tenants create",
      "admin-users create",
      "providers create",
      "models create",
      "routing-groups create",
      "resource-groups create",
      "group-models bind",
      "api-keys create",
      "admin-users login",
    ]) {
      expect(seen.has(wanted)).toBe(true);
    }
    expect(plane.database.db.deleteFrom("admin_log").execute()).rejects.toThrow("append-only");
    expect(plane.database.db.updateTable("admin_log").set({ action: "x" }).execute()).rejects.toThrow("append-only");
  });
});

describe("requests outside the routes", () => {
  test("answer 404 for an unknown path, and 405 with the allowed methods for a wrong method", async () => {
    expect([(await plane.system("GET", "/v1/admin/nothing")).status, (await plane.send("GET", "/v1/admin/nothing")).body.code]).toEqual([
      404,
      "not_found",
    ]);
    const wrong = await plane.system("PUT", "/v1/admin/providers");
    expect([wrong.status, wrong.body.code, wrong.headers.get("allow")]).toEqual([405, "method_not_allowed", "GET, POST, HEAD"]);
    expect((await plane.system("PUT", "/v1/admin/mcp-servers/test-connection")).headers.get("allow")).toBe("POST");
    expect((await plane.system("PUT", "/v1/admin/mcp-servers/mcp-01ARZ3NDEKTSV4RRFFQ69G5FAV")).headers.get("allow")).toBe(
      "GET, PATCH, DELETE, HEAD",
    );
  });

  test("an unexpected error answers 500 without details, which only the log has", async () => {
    const broken = await controlPlane({
      health: {
        "/healthz": () => {
          throw new Error("secret detail");
        },
      },
    });
    const reply = await broken.send("GET", "/healthz");
    expect([reply.status, reply.body]).toEqual([500, { detail: "The gateway failed to handle this request.", code: "internal_error" }]);
    expect(broken.lines.join("")).toContain("secret detail");
    await broken.close();
  });
});

describe("the OpenAPI document", () => {
  test("has exactly the registered routes, resolvable references and the parameters of lists", async () => {
    const { body } = await plane.send("GET", "/openapi.json");
    expect(body.openapi).toBe("3.1.0");
    const documented = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(documented.sort()).toEqual(OPERATIONS.map(nameOf).sort());
    for (const [, ref] of JSON.stringify(body).matchAll(/"\$ref":"([^"]+)"/g)) {
      expect([ref, body.components.schemas[(ref ?? "").replace("#/components/schemas/", "")] !== undefined]).toEqual([ref ?? "", true]);
    }
    const create = body.paths["/v1/admin/providers"].post;
    expect(create.requestBody.content["application/json"].schema.required).toEqual(["provider_key", "api_format"]);
    const list = body.paths["/v1/admin/providers"].get;
    expect(list.parameters.map((parameter: { name: string }) => parameter.name)).toEqual([
      "page",
      "page_size",
      "limit",
      "offset",
      "search",
      "provider_key",
      "tenant_id",
      "X-Tenant-ID",
    ]);
    expect(list.responses["200"].content["application/json"].schema.properties.providers.items).toEqual({
      $ref: "#/components/schemas/Provider",
    });
  });

  test("declares every member of refusals, which bodies are optional, and which are forms", async () => {
    const { paths, components } = (await plane.send("GET", "/openapi.json")).body;
    const known = Object.keys(components.schemas.Error.properties);
    const provider = await newTenant(plane, "documented");
    await provider.send("POST", "/v1/admin/providers", { provider_key: "p", api_format: "echo" });
    const group = (await provider.send("POST", "/v1/admin/resource-groups", { name: "g" })).body.id;
    const model = (await provider.send("POST", "/v1/admin/llms", { name: "m", provider: "p", group_ids: [group] })).body.id;
    const kept = (await provider.send("GET", "/v1/admin/providers")).body.providers[0].id;
    const refusals = [
      await provider.send("DELETE", `/v1/admin/providers/${kept}`),
      await provider.send("POST", `/v1/admin/resource-groups/${group}/llm-models`, { model_ids: [model] }),
      await provider.send("POST", "/v1/admin/llms", { name: "m", provider: "p" }),
      await provider.send("POST", "/v1/admin/llms", {}),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([409, 409, 409, 400]);
    for (const { body } of refusals) expect(Object.keys(body).filter((member) => !known.includes(member))).toEqual([]);
    const bodyOf = (path: string) => paths[path].post.requestBody;
    expect([bodyOf("/v1/admin/llms").required, bodyOf("/v1/admin/proxy-logs/query").required]).toEqual([true, false]);
    for (const path of ["/v1/admin/end-users/{id}/photo", "/v1/admin/mcp-servers/{id}/icon"])
      expect(bodyOf(path).content["multipart/form-data"].schema.required).toEqual(["file"]);
    expect(Object.keys(paths["/v1/admin/proxy-logs/export"].post.responses["200"].content)).toEqual(["application/jsonl", "text/csv"]);
  });

  test("is browsable at /docs/, to which / redirects", async () => {
    expect((await plane.send("GET", "/")).headers.get("location")).toBe("/docs/");
  });
});
