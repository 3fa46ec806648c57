import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { PortalTokens } from "../../../server/directory/people/portal/portal-tokens.ts";
import { systemClock } from "../../../server/kernel/clock.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { PORTAL_ROUTES } from "../../../server/surfaces/portal/routes.ts";
import type { PortalRoute } from "../../../server/surfaces/portal/portal-operation.ts";
import { rowOf, rowsOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { newPerson, PASSWORD, portalClient, type PortalClient } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

/** A valid body for each operation that takes a JSON body: a new one without an entry fails here. */
const BODIES: Record<string, unknown> = {
  "POST /v1/portal/auth/register": { username: "made-by-table", password: PASSWORD },
  "POST /v1/portal/auth/login": { username: "nobody", password: PASSWORD },
  "POST /v1/portal/auth/login/2fa": { temp_token: "none", code: "000000" },
  "POST /v1/portal/auth/sso/exchange": { code: "a code that nobody was given" },
  "POST /v1/portal/auth/change-password": { current_password: "wrong", new_password: PASSWORD },
  "POST /v1/portal/auth/2fa/setup": { password: PASSWORD },
  "POST /v1/portal/auth/2fa/verify": { code: "000000" },
  "POST /v1/portal/auth/2fa/disable": { code: "000000" },
  "POST /v1/portal/api-keys": { name: "laptop" },
  "PATCH /v1/portal/auth/profile": { display_name: "x" },
  "PATCH /v1/portal/auth/primary-group": { group_id: crypto.randomUUID() },
  "POST /v1/portal/runs/:run_id/feedback": { score: 1 },
  "POST /v1/portal/approvals/:id/approve": { note: "fine" },
  "POST /v1/portal/approvals/:id/reject": {},
  "POST /v1/portal/evidence/notice": {
    conversation_handle: "01JABCDEFGHJKMNPQRSTVWXYZ0",
    locale: "en",
    method: "banner",
    text_sha256: "0".repeat(64),
  },
};
/** Operations that take no JSON body but may be sent one. */
const WITHOUT_JSON = new Set([
  "POST /v1/portal/approvals/:id/page",
  "POST /v1/portal/auth/sso/:id/acs",
  "POST /v1/portal/auth/sso/:id/backchannel-logout",
  "POST /v1/portal/auth/sso/sign-out",
  "DELETE /v1/portal/api-keys/:key_id",
  "POST /v1/portal/auth/validate",
  "POST /v1/portal/auth/logout",
  "POST /v1/portal/auth/session",
  "POST /v1/portal/auth/session/renew",
  "DELETE /v1/portal/auth/session",
  "POST /v1/portal/auth/profile/photo",
  "POST /v1/portal/notifications/mark-all-read",
  "POST /v1/portal/notifications/:id/read",
  "POST /v1/portal/alerts/:alert_id/acknowledge",
  "POST /v1/portal/kb-identities",
  "DELETE /v1/portal/kb-identities/:mapping_id",
]);

const nameOf = ({ method, path }: PortalRoute) => `${method} ${path}`;
const cases = (routes: readonly PortalRoute[]) => routes.map((route) => [nameOf(route), route] as const);
const guarded = PORTAL_ROUTES.filter(({ admits }) => admits !== "anyone");
const withJson = PORTAL_ROUTES.filter((route) => nameOf(route) in BODIES);
/** The records that paths refer to: the first part of the path, and the parameter. */
const NAMED = [
  "models model_id",
  "servers config_id",
  "servers group_id",
  "mcp-apps server_id",
  "approvals id",
  "notifications id",
  "alerts alert_id",
  "alerts group_id",
  "runs run_id",
] as const;
/** The query parameters that a route requires. */
const QUERIES: Record<string, string> = { "GET /v1/portal/mcp-apps/:server_id/resource": "?uri=ui://clock" };
const pathOf = (route: PortalRoute, idOf: (parameter: string) => string | undefined = () => undefined) =>
  route.path.replace("/v1/portal", "").replaceAll(/:(\w+)/g, (_all, parameter: string) => idOf(parameter) ?? crypto.randomUUID()) +
  (QUERIES[nameOf(route)] ?? "");

const JWT_SECRET = "the secret that signs these tokens";

let world: World;
let served: Served;
let person: PortalClient;
/** Deactivated; their token would otherwise be valid for hours. */
let inactive: PortalClient;
/** With a token that expired an hour ago. */
let late: PortalClient;
let foreigner: PortalClient;
/** Records of the tenant `default`, by the first part of a path and the parameter that refers to them. */
let records: Record<(typeof NAMED)[number], string>;

/** Creates one record of each kind that a path of the portal can refer to, in the person's tenant. */
async function recordsOf(owner: { readonly id: string; readonly token: string | null }): Promise<typeof records> {
  const { admin, gateway, upstream, databaseUrl } = world;
  const server = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "tools", base_url: upstream.baseUrl });
  const config = await admin.post("/v1/admin/server-configs", {
    tenant_id: "default",
    mcp_server_id: server.id,
    name: "tools",
    group_ids: [served.groupId],
    enabled: true,
  });
  await admin.request("PATCH", `/v1/admin/end-users/${owner.id}/primary-group`, { group_id: served.groupId });
  const answer = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${owner.token}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "x" }] }),
  });
  const approval = crypto.randomUUID();
  const connection = openDatabase(databaseUrl, { log: jsonLog("error"), max: 1 });
  await sql`INSERT INTO approvals (id, tenant_id, server_id, server_name, capability_type, capability_name, requester_type, requester_id, requester_display, requester_group_id, call_arguments, arguments_digest, timeout_seconds, expires_at)
            VALUES (${approval}, 'default', ${server.id}, 'tools', 'tool', 'echo', 'user', ${owner.id}, 'person', ${served.groupId}, '{}', 'd', 900, now() + interval '1 day')`.execute(
    connection.db,
  );
  await sql`INSERT INTO notifications (id, tenant_id, end_user_id, notification_type, title, body) VALUES ('of-person', 'default', ${owner.id}, 't', 't', 'b')`.execute(
    connection.db,
  );
  await sql`INSERT INTO alerts (id, tenant_id, alert_type, severity, title, message, group_id, crossing) VALUES ('of-team', 'default', 'usage_warning', 'warning', 't', 'm', ${served.groupId}, 'c')`.execute(
    connection.db,
  );
  await connection.close();
  return {
    "models model_id": served.models["fake-1"] ?? "",
    "servers config_id": config.id,
    "servers group_id": served.groupId,
    "mcp-apps server_id": server.id,
    "approvals id": approval,
    "notifications id": "of-person",
    "alerts alert_id": "of-team",
    "alerts group_id": served.groupId,
    "runs run_id": answer.headers.get("x-gw-run-id") ?? "",
  };
}

beforeAll(async () => {
  world = await startWorld({ GW_JWT_SECRET: JWT_SECRET });
  const url = world.gateway.runtimeUrl;
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  const made = await newPerson(url, "person");
  person = made;
  records = await recordsOf(made);
  late = portalClient(
    url,
    await new PortalTokens({ secret: JWT_SECRET, expirySeconds: -3_600, clock: systemClock() }).issue({
      id: made.id,
      tenant_id: "default",
      username: "person",
      email: null,
      tokens_valid_from: new Date(0),
    }),
  );
  const away = await newPerson(url, "away");
  await world.admin.request("PATCH", `/v1/admin/end-users/${away.id}/status`, { is_active: false });
  inactive = away;
  await world.admin.post("/v1/admin/tenants", { id: "other", name: "other" });
  await world.admin.post("/v1/admin/end-users", { tenant_id: "other", username: "foreigner", password: PASSWORD });
  const login = await portalClient(url).request(
    "POST",
    "/auth/login",
    { username: "foreigner", password: PASSWORD },
    { "x-tenant-id": "other" },
  );
  foreigner = portalClient(url, login.body.access_token);
});
afterAll(() => world.end());

/** The call's row; fails unless there is exactly one. */
async function onlyRow(headers: Headers): Promise<any> {
  const filters = { correlation_id: headers.get("x-correlation-id") };
  const row = await rowOf(world.admin, filters);
  expect(await rowsOf(world.admin, filters, 1)).toHaveLength(1);
  return row;
}

test("the table has a body for every route that takes one", () => {
  expect(
    PORTAL_ROUTES.filter(({ method }) => method !== "GET")
      .map(nameOf)
      .filter((name) => !(name in BODIES) && !WITHOUT_JSON.has(name)),
  ).toEqual([]);
});

describe("without a user: 401 and a row", () => {
  test.each(cases(guarded))("%s", async (name, route) => {
    const { runtimeUrl } = world.gateway;
    const shown = [
      [portalClient(runtimeUrl), "credential_missing"],
      [portalClient(runtimeUrl, "nonsense"), "credential_malformed"],
      [portalClient(runtimeUrl, world.admin.token), "credential_unknown"],
      [late, "credential_expired"],
      ...(route.admits === "user" ? ([[portalClient(runtimeUrl, served.apiKey), "credential_of_wrong_kind"]] as const) : []),
    ] as const;
    await Promise.all(
      shown.map(async ([client, reason]) => {
        const reply = await client.request(route.method, pathOf(route), BODIES[name]);
        expect([reply.status, reply.headers.get("www-authenticate"), reply.body]).toEqual([
          401,
          "Bearer",
          { error: "Missing or invalid credential.", code: "unauthenticated" },
        ]);
        expect(await onlyRow(reply.headers)).toMatchObject({
          proxy_type: "portal",
          proxy_subtype: route.audit.proxySubtype,
          http_status_code: 401,
          success: false,
          error_type: reason,
          gateway_user_id: null,
        });
      }),
    );
  });
});

describe("with the token of a deactivated user: 403 and a row", () => {
  test.each(cases(guarded))("%s", async (name, route) => {
    const reply = await inactive.request(route.method, pathOf(route), BODIES[name]);
    expect([reply.status, reply.body.code]).toEqual([403, "inactive_user"]);
    expect(await onlyRow(reply.headers)).toMatchObject({
      http_status_code: 403,
      success: false,
      error_type: "inactive_user",
      gateway_user_username: "away",
    });
  });
});

describe("with another tenant's ID: 401", () => {
  test.each(cases(guarded))("%s", async (name, route) => {
    const reply = await person.request(route.method, pathOf(route), BODIES[name], { "x-tenant-id": "other" });
    expect([reply.status, (await onlyRow(reply.headers)).error_type]).toEqual([401, "tenant_mismatch"]);
  });
});

describe("a record of another tenant gets the same response as a missing one, and a row of the caller's tenant", () => {
  const kindOf = ({ path }: PortalRoute, parameter: string) => NAMED.find((kind) => kind === `${path.split("/")[3]} ${parameter}`);
  const naming = guarded.filter((route) =>
    [...route.path.matchAll(/:(\w+)/g)].some(([, parameter]) => kindOf(route, parameter as string) !== undefined),
  );
  test.each(cases(naming))("%s", async (name, route) => {
    const there = await foreigner.request(
      route.method,
      pathOf(route, (parameter) => records[kindOf(route, parameter) as (typeof NAMED)[number]]),
      BODIES[name],
    );
    const nowhere = await foreigner.request(route.method, pathOf(route), BODIES[name]);
    expect([there.status, there.body]).toEqual([nowhere.status, nowhere.body]);
    expect([403, 404]).toContain(there.status);
    expect(await onlyRow(there.headers)).toMatchObject({ tenant_id: "other", http_status_code: there.status, success: false });
  });
});

describe("a body that is too large: 413 and a row", () => {
  const reading = PORTAL_ROUTES.filter(({ body }) => body !== false);
  test.each(cases(reading))("%s", async (_name, route) => {
    const reply = await fetch(`${world.gateway.runtimeUrl}/v1/portal${pathOf(route)}`, {
      method: route.method,
      body: "x".repeat((route.maxBodyBytes ?? 0) + 1),
      headers: { "content-type": "application/json", authorization: `Bearer ${person.token}` },
    });
    const most = route.maxBodyBytes ?? 0;
    const said = `The request body is larger than ${most % 1024 === 0 ? `${most / 1024} KiB` : `${most} bytes`}.`;
    if (reply.headers.get("content-type")?.startsWith("text/html") === true)
      expect([reply.status, await reply.text()]).toEqual([413, expect.stringContaining(said)]);
    else expect([reply.status, await reply.json()]).toEqual([413, { error: said, code: "body_too_large" }]);
    expect(await onlyRow(reply.headers)).toMatchObject({ http_status_code: 413, error_type: "body_too_large", success: false });
  });
});

test("a photo upload without a form or file: 400 that names the field, and a row", async () => {
  const empty = new FormData();
  empty.set("other", "x");
  for (const body of [{ file: "x" }, empty]) {
    const reply = await person.request("POST", "/auth/profile/photo", body);
    expect([reply.status, reply.body.fields]).toEqual([400, [{ field: "file", message: "is required, as multipart/form-data" }]]);
    expect(await onlyRow(reply.headers)).toMatchObject({ http_status_code: 400, error_type: "invalid_body" });
  }
});

describe("a malformed body: 400 that names the field, and a row", () => {
  test.each(cases(withJson))("%s", async (name, route) => {
    const strange = await person.request(route.method, pathOf(route), { ...(BODIES[name] as object), surprise: 1 });
    const [status, code] = route.audit.proxySubtype === "notice" ? [422, "invalid_notice"] : [400, "invalid_body"];
    expect([strange.status, strange.body.code, strange.body.fields]).toEqual([
      status,
      code,
      [{ field: "surprise", message: "is not known here" }],
    ]);
    expect(await onlyRow(strange.headers)).toMatchObject({
      http_status_code: status,
      error_type: code,
      request_body_preview: null,
      response_body_preview: null,
      request_content_hash: null,
    });
    const raw = (body: string, type = "application/json") =>
      fetch(`${world.gateway.runtimeUrl}/v1/portal${pathOf(route)}`, {
        method: route.method,
        body,
        headers: { "content-type": type, authorization: `Bearer ${person.token}` },
      });
    for (const [body, type] of [["{"], ["[1]"], ["{}", "text/plain"], [`{"a":"\\u0000"}`]] as const)
      expect((await raw(body, type)).status).toBe(400);
  });
});

describe("a path parameter with a NUL character: 404 and a row", () => {
  test.each(cases(PORTAL_ROUTES.filter(({ path }) => path.includes("/:"))))("%s", async (name, route) => {
    const reply = await person.request(
      route.method,
      pathOf(route, () => "a%00b"),
      BODIES[name],
    );
    expect(reply.status).toBe(404);
    expect(await onlyRow(reply.headers)).toMatchObject({ http_status_code: 404 });
  });
});

describe("a malformed ID in a path gets the same response as an unknown one, and a row", () => {
  test.each(cases(PORTAL_ROUTES.filter(({ path }) => path.includes("/:"))))("%s", async (name, route) => {
    const sent = (idOf?: () => string) => person.request(route.method, pathOf(route, idOf), BODIES[name]);
    const [strange, unknown] = [await sent(() => "x"), await sent()];
    expect([strange.status, strange.body.code]).toEqual([unknown.status, unknown.body.code]);
    expect([403, 404]).toContain(strange.status);
    expect(await onlyRow(strange.headers)).toMatchObject({ http_status_code: strange.status, success: false });
  });
});

describe("an unknown query parameter: 400 that names it", () => {
  test.each(["/models", "/servers", "/knowledgebases", "/notifications", "/alerts", "/approvals"])("%s", async (path) => {
    const reply = await person.request("GET", `${path}?surprise=1`);
    expect([reply.status, reply.body.fields]).toEqual([400, [{ field: "surprise", message: "is not known here" }]]);
  });
});

describe("every route answers a user with one row that has no body previews", () => {
  const whole = guarded.filter(({ audit }) => audit.proxySubtype !== "events");
  test.each(cases(whole))("%s", async (name, route) => {
    const reply = await foreigner.request(route.method, pathOf(route), BODIES[name]);
    expect(reply.status).toBeLessThan(502);
    expect(reply.status).not.toBe(500);
    expect(reply.status).not.toBe(401);
    expect(await onlyRow(reply.headers)).toMatchObject({
      proxy_type: "portal",
      tenant_id: "other",
      gateway_user_username: route.withoutCaller === true ? null : "foreigner",
      http_status_code: reply.status,
      request_body_preview: null,
      response_body_preview: null,
    });
  });
});
