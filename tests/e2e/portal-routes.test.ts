import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PORTAL_ROUTES } from "../../server/surfaces/portal/routes.ts";
import type { PortalRoute } from "../../server/surfaces/portal/portal-operation.ts";
import { rowOf, rowsOf, serveModels, type Served } from "../support/admin.ts";
import { newPerson, PASSWORD, portalClient, type PortalClient } from "../support/portal.ts";
import { startWorld, type World } from "../support/world.ts";

/** A valid body for each operation that takes one of JSON: a new one without an entry fails here. */
const BODIES: Record<string, unknown> = {
  "POST /v1/portal/auth/register": { username: "made-by-table", password: PASSWORD },
  "POST /v1/portal/auth/login": { username: "nobody", password: PASSWORD },
  "POST /v1/portal/auth/login/2fa": { temp_token: "none", code: "000000" },
  "POST /v1/portal/auth/change-password": { current_password: "wrong", new_password: PASSWORD },
  "POST /v1/portal/auth/2fa/verify": { code: "000000" },
  "POST /v1/portal/auth/2fa/disable": { code: "000000" },
  "PATCH /v1/portal/auth/profile": { display_name: "x" },
  "PATCH /v1/portal/auth/primary-group": { group_id: crypto.randomUUID() },
  "POST /v1/portal/runs/:run_id/feedback": { score: 1 },
  "POST /v1/portal/approvals/:id/approve": { note: "fine" },
  "POST /v1/portal/approvals/:id/reject": {},
  "POST /v1/portal/evidence/notice": { conversation_handle: "01JABCDEFGHJKMNPQRSTVWXYZ0", locale: "en", method: "banner", text_sha256: "0".repeat(64) },
};
/** Those that take no JSON body, but may be sent one. */
const WITHOUT_JSON = new Set([
  "POST /v1/portal/approvals/:id/page",
  "POST /v1/portal/auth/validate",
  "POST /v1/portal/auth/logout",
  "POST /v1/portal/auth/2fa/setup",
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
const pathOf = ({ path }: PortalRoute) => path.replace("/v1/portal", "").replaceAll(/:\w+/g, crypto.randomUUID());

let world: World;
let served: Served;
let person: PortalClient;
let foreigner: PortalClient;

beforeAll(async () => {
  world = await startWorld();
  const url = world.gateway.runtimeUrl;
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  person = await newPerson(url, "person");
  await world.admin.post("/v1/admin/tenants", { id: "other", name: "other" });
  await world.admin.post("/v1/admin/end-users", { tenant_id: "other", username: "foreigner", password: PASSWORD });
  const login = await portalClient(url).request("POST", "/auth/login", { username: "foreigner", password: PASSWORD }, { "x-tenant-id": "other" });
  foreigner = portalClient(url, login.body.access_token);
}, 60_000);
afterAll(() => world.end());

/** The call's row: there is exactly one. */
async function onlyRow(headers: Headers): Promise<any> {
  const filters = { correlation_id: headers.get("x-correlation-id") };
  const row = await rowOf(world.admin, filters);
  expect(await rowsOf(world.admin, filters, 1)).toHaveLength(1);
  return row;
}

test("the table knows every route", () => {
  expect(PORTAL_ROUTES.filter(({ method }) => method !== "GET").map(nameOf).filter((name) => !(name in BODIES) && !WITHOUT_JSON.has(name))).toEqual([]);
});

describe("without a user: 401 and a row", () => {
  test.each(cases(guarded))("%s", async (name, route) => {
    const { runtimeUrl } = world.gateway;
    for (const [client, reason] of [
      [portalClient(runtimeUrl), "credential_missing"],
      [portalClient(runtimeUrl, "nonsense"), "credential_malformed"],
      [portalClient(runtimeUrl, world.admin.token), "credential_unknown"],
      ...(route.admits === "user" ? ([[portalClient(runtimeUrl, served.apiKey), "credential_of_wrong_kind"]] as const) : []),
    ] as const) {
      const reply = await client.request(route.method, pathOf(route), BODIES[name]);
      expect([reply.status, reply.headers.get("www-authenticate"), reply.body]).toEqual([401, "Bearer", { error: "Missing or invalid credential.", code: "unauthenticated" }]);
      expect(await onlyRow(reply.headers)).toMatchObject({ proxy_type: "portal", proxy_subtype: route.audit.proxySubtype, http_status_code: 401, success: false, error_type: reason, gateway_user_id: null });
    }
  });
});

describe("with another tenant's name: 401", () => {
  test.each(cases(guarded))("%s", async (name, route) => {
    const reply = await person.request(route.method, pathOf(route), BODIES[name], { "x-tenant-id": "other" });
    expect([reply.status, (await onlyRow(reply.headers)).error_type]).toEqual([401, "tenant_mismatch"]);
  });
});

describe("a malformed body: 400 that names the field, and a row", () => {
  test.each(cases(withJson))("%s", async (name, route) => {
    const strange = await person.request(route.method, pathOf(route), { ...(BODIES[name] as object), surprise: 1 });
    const [status, code] = route.audit.proxySubtype === "notice" ? [422, "invalid_notice"] : [400, "invalid_body"];
    expect([strange.status, strange.body.code, strange.body.fields]).toEqual([status, code, [{ field: "surprise", message: "is not known here" }]]);
    expect(await onlyRow(strange.headers)).toMatchObject({ http_status_code: status, error_type: code, request_body_preview: null, response_body_preview: null, request_content_hash: null });
    const raw = (body: string, type = "application/json") => fetch(`${world.gateway.runtimeUrl}/v1/portal${pathOf(route)}`, { method: route.method, body, headers: { "content-type": type, authorization: `Bearer ${person.token}` } });
    for (const [body, type] of [["{"], ["[1]"], ["{}", "text/plain"], [`{"a":"\\u0000"}`]] as const) expect((await raw(body, type)).status).toBe(400);
    const large = await raw(`{"a":"${"x".repeat(route.maxBodyBytes ?? 0)}"}`);
    expect([large.status, (await onlyRow(large.headers)).error_type]).toEqual([413, "body_too_large"]);
  });
});

describe("a query that is not known: 400 that names it", () => {
  test.each(["/models", "/servers", "/knowledgebases", "/notifications", "/alerts", "/approvals"])("%s", async (path) => {
    const reply = await person.request("GET", `${path}?surprise=1`);
    expect([reply.status, reply.body.fields]).toEqual([400, [{ field: "surprise", message: "is not known here" }]]);
  });
});

describe("every route answers a user, with one row that has no body of theirs", () => {
  const whole = guarded.filter(({ audit }) => audit.proxySubtype !== "events");
  test.each(cases(whole))("%s", async (name, route) => {
    const reply = await foreigner.request(route.method, pathOf(route), BODIES[name]);
    expect(reply.status).toBeLessThan(502);
    expect(reply.status).not.toBe(500);
    expect(reply.status).not.toBe(401);
    expect(await onlyRow(reply.headers)).toMatchObject({ proxy_type: "portal", tenant_id: "other", gateway_user_username: route.audit.proxySubtype === "notice" ? null : "foreigner", http_status_code: reply.status, request_body_preview: null, response_body_preview: null });
  });
});
