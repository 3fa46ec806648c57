import { afterAll, beforeAll, expect, test } from "bun:test";
import { SignJWT, UnsecuredJWT } from "jose";
import { rowOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { grant } from "../tools/mcp-harness.ts";
import { startSigningIssuer, type SigningIssuer } from "../../support/identity/signing-issuer.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Calls with a token of an issuer that the tenant trusts, without any stored key. */

const AUDIENCE = "https://gateway.example/api";
let world: World;
let issuer: SigningIssuer;
let served: Served;
let providerId: string;

beforeAll(async () => {
  world = await startWorld();
  issuer = await startSigningIssuer();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", "hold"]);
  const made = await world.admin.post("/v1/admin/identity-providers", {
    tenant_id: "default",
    kind: "oidc",
    audience: "api",
    name: "cluster",
    oidc: { issuer: issuer.issuer, required_claims: { env: ["prod"] } },
    api: { audiences: [AUDIENCE], max_age_seconds: 600 },
    group_mappings: [{ group: "ml-team", resource_group_id: served.groupId }],
  });
  providerId = made.id;
});
afterAll(async () => {
  await world.end();
  await issuer.stop();
});

const GOOD = { sub: "job-7", aud: AUDIENCE, groups: ["ml-team"], env: "prod" };
const now = () => Math.floor(Date.now() / 1000);

const call = (token: string, headers: Record<string, string> = {}) =>
  fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "x-gateway-authorization": `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hello" }] }),
  });

test("a token of a trusted issuer gives access to the mapped resource groups, and its audit row names the workload", async () => {
  const answer = await call(await issuer.sign({ ...GOOD, preferred_username: "nightly", email: "nightly@example.com" }));
  expect(answer.status).toBe(200);
  expect(await rowOf(world.admin, { id: answer.headers.get("x-request-id") })).toMatchObject({
    success: true,
    subject_kind: "service",
    subject_id: `${providerId}:job-7`,
    idp_user_id: "job-7",
    idp_user_username: "nightly",
    idp_user_email: "nightly@example.com",
    resource_group_id: served.groupId,
    api_key_id: null,
  });
});

test("the issuer's keys are fetched once for many calls", async () => {
  const before = issuer.keyFetches();
  for (let i = 0; i < 5; i++) expect((await call(await issuer.sign({ ...GOOD, jti: String(i) }))).status).toBe(200);
  expect(issuer.keyFetches()).toBe(before);
});

test("a token that expired within the clock tolerance is accepted repeatedly", async () => {
  const token = await issuer.sign({ ...GOOD, iat: now() - 60, exp: now() - 3 });
  expect([(await call(token)).status, (await call(token)).status]).toEqual([200, 200]);
});

test("every invalid token gets the same 401", async () => {
  const { issuer: iss } = issuer;
  const refused: Record<string, string> = {
    "another audience": await issuer.sign({ ...GOOD, aud: "https://elsewhere.example" }),
    "no audience": await issuer.sign({ ...GOOD, aud: undefined }),
    "another issuer": await issuer.sign({ ...GOOD, iss: "https://elsewhere.example" }),
    expired: await issuer.sign({ ...GOOD, iat: now() - 400, exp: now() - 60 }),
    "without an end": await issuer.sign({ ...GOOD, exp: undefined }),
    "older than is allowed": await issuer.sign({ ...GOOD, iat: now() - 1_000, exp: now() + 1_000 }),
    "from the future": await issuer.sign({ ...GOOD, nbf: now() + 300 }),
    "a claim with another value": await issuer.sign({ ...GOOD, env: "dev" }),
    "no group that is mapped": await issuer.sign({ ...GOOD, groups: ["others"] }),
    "groups left out": await issuer.sign({ ...GOOD, groups: undefined, ["_claim_names"]: { groups: "src1" } }),
    nobody: await issuer.sign({ ...GOOD, sub: undefined }),
    "a notice of signing out": await issuer.sign(GOOD, { typ: "logout+jwt" }),
    "a foreign key under the same name": await issuer.signForeign(GOOD),
    "alg none": new UnsecuredJWT({ ...GOOD, iss }).setIssuedAt().setExpirationTime("5m").encode(),
    "signed with the public key as a secret": await new SignJWT({ ...GOOD, iss, user_id: "u", tenant_id: "default", user_type: "end_user" })
      .setProtectedHeader({ alg: "HS256", kid: issuer.kid() })
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(new TextEncoder().encode(await issuer.publicKeyPem())),
  };
  for (const [what, token] of Object.entries(refused)) {
    const answer = await call(token);
    expect([what, answer.status]).toEqual([what, 401]);
    expect(await answer.text()).toContain("Missing or invalid credential.");
  }
});

test("a token is accepted neither by another tenant nor by the portal", async () => {
  const token = await issuer.sign(GOOD);
  await world.admin.post("/v1/admin/tenants", { id: "elsewhere", name: "elsewhere" });
  expect((await call(token, { "x-tenant-id": "elsewhere" })).status).toBe(401);
  const profile = await fetch(`${world.gateway.runtimeUrl}/v1/portal/auth/profile`, {
    headers: { "x-gateway-authorization": `Bearer ${token}` },
  });
  expect(profile.status).toBe(401);
});

test("an API audience equal to the provider's client ID is refused", async () => {
  const refused = await world.admin.request("POST", "/v1/admin/identity-providers", {
    tenant_id: "default",
    kind: "oidc",
    audience: "api",
    name: "wrong",
    oidc: { issuer: issuer.issuer, client_id: "browser" },
    api: { audiences: ["browser"] },
  });
  expect([refused.status, refused.body.fields[0].field]).toEqual([400, "api.audiences"]);
});

test("a preview shows the result of claims, and why they would be refused", async () => {
  const path = `/v1/admin/identity-providers/${providerId}/preview`;
  const good = await world.admin.post(path, { claims: GOOD });
  expect(good).toMatchObject({ subject: "job-7", groups: ["ml-team"], resource_group_ids: [served.groupId], allowed: true, reason: null });
  const bad = await world.admin.post(path, { claims: { ...GOOD, env: "dev" } });
  expect([bad.allowed, bad.reason]).toEqual([false, "The claim env has none of the values it must have."]);
});

test("a workload without authorization for a tool server gets no URL for a person to connect", async () => {
  const tools = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { origin, pathname } = new URL(request.url);
      return pathname.startsWith("/.well-known/oauth-protected-resource")
        ? Response.json({ resource: `${origin}/mcp`, authorization_servers: [issuer.issuer] })
        : new Response(null, { status: 401 });
    },
  });
  const { id } = await world.admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name: "tools",
    base_url: tools.url.origin,
    auth_type: "oauth",
  });
  await grant(world.admin, "tools", id, [served.groupId]);
  const list = async (credential: Record<string, string>) => {
    const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...credential },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    return { status: response.status, error: ((await response.json()) as any).error };
  };
  const byKey = await list({ "x-api-key": served.apiKey });
  expect([byKey.status, byKey.error.data.connect_url]).toEqual([401, expect.stringContaining("/v1/proxy/oauth/")]);
  const byWorkload = await list({ "x-gateway-authorization": `Bearer ${await issuer.sign(GOOD)}` });
  expect([byWorkload.status, byWorkload.error.data.code, byWorkload.error.data.connect_url]).toEqual([
    401,
    "upstream_authorization_required",
    undefined,
  ]);
  expect(byWorkload.error.message).toContain("its own token for the tool server");
  await tools.stop(true);
});

test("a disabled issuer's tokens are refused at once, and accepted again once it is enabled", async () => {
  const token = await issuer.sign(GOOD);
  expect((await call(token)).status).toBe(200);
  await world.admin.request("PATCH", `/v1/admin/identity-providers/${providerId}`, { enabled: false });
  expect((await call(token)).status).toBe(401);
  await world.admin.request("PATCH", `/v1/admin/identity-providers/${providerId}`, { enabled: true });
  expect((await call(token)).status).toBe(200);
});

test("disabling an issuer ends its workloads' streams, and no others", async () => {
  const [sub, other] = ["streaming-job", "kept-job"];
  const api = { audiences: ["https://gateway.example/streams"], max_age_seconds: 600 };
  const leaving = await world.admin.post("/v1/admin/identity-providers", {
    ...{ tenant_id: "default", kind: "oidc", audience: "api", name: "leaving", api },
    oidc: { issuer: issuer.issuer },
    group_mappings: [{ group: "ml-team", resource_group_id: served.groupId }],
  });
  const stream = async (token: string) => {
    const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "x-gateway-authorization": `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "hold", stream: true, messages: [{ role: "user", content: "hello" }] }),
    });
    expect(answer.status).toBe(200);
    return { id: answer.headers.get("x-request-id"), text: answer.text() };
  };
  const held = await stream(await issuer.sign({ ...GOOD, sub, aud: api.audiences[0] }));
  const kept = await stream(await issuer.sign({ ...GOOD, sub: other }));
  await world.admin.request("PATCH", `/v1/admin/identity-providers/${leaving.id}`, { enabled: false });
  expect(await held.text).toContain("Your access ended");
  expect(await rowOf(world.admin, { id: held.id })).toMatchObject({ success: false, error_type: "access_ended" });
  world.upstream.release();
  expect(await kept.text).toContain("[DONE]");
});
