import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { decodeJwt } from "jose";
import { sql } from "kysely";
import { jsonLog } from "../../../server/kernel/log.ts";
import { type DatabaseConnection, openDatabase } from "../../../server/store/database.ts";
import { serveModels } from "../../support/worlds/admin.ts";
import { PASSWORD, portalClient } from "../../support/worlds/portal.ts";
import { samlProvider } from "../../support/identity/saml-provider.ts";
import { patchOf, scimClient } from "../../support/identity/scim.ts";
import { movedOn, signOnBrowser } from "../../support/identity/sign-on-browser.ts";
import {
  arriveAtPage,
  makeSignOnProvider,
  OWN_PAGE,
  signInByProvider,
  signOnPlane,
  type SignedInPage,
  type SignOnAudience,
} from "../../support/identity/sign-on-pages.ts";
import { startSigningIssuer, type SigningIssuer } from "../../support/identity/signing-issuer.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Sessions that began at an identity provider end when it says so, and vice versa. */

const EVENTS = { "http://schemas.openid.net/event/backchannel-logout": {} };

let world: World;
let issuer: SigningIssuer;
let connection: DatabaseConnection;
const providers: Record<SignOnAudience, any> = { portal: null, admin: null };

const make = (audience: SignOnAudience, oidc: object = {}) => makeSignOnProvider(world, issuer, audience, { oidc });

beforeAll(async () => {
  world = await startWorld();
  connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 2 });
  issuer = await startSigningIssuer();
  for (const audience of ["portal", "admin"] as const) providers[audience] = await make(audience, { sign_out: true });
});
afterAll(async () => {
  await connection.close();
  await world.end();
  await issuer.stop();
});

const planeOf = (audience: SignOnAudience) => signOnPlane(world, audience);
const claimsOf = (sub: string, sid: string | undefined) => ({ sub, ...(sid === undefined ? {} : { sid }) });
const arrived = (audience: SignOnAudience, sub: string, sid?: string, provider = providers[audience]) =>
  arriveAtPage(world, issuer, provider, claimsOf(sub, sid));
const signedIn = (audience: SignOnAudience, sub: string, sid?: string, provider = providers[audience]) =>
  signInByProvider(world, issuer, provider, claimsOf(sub, sid));

const logoutToken = (claims: object, header: object = {}) =>
  issuer.sign({ aud: "gatehouse", jti: crypto.randomUUID(), events: EVENTS, ...claims } as any, { typ: "logout+jwt", ...header });

async function sendLogoutToken(audience: SignOnAudience, logout_token: string, provider = providers[audience]) {
  const response = await fetch(`${planeOf(audience).base}/${provider.id}/backchannel-logout`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ logout_token }).toString(),
  });
  return { status: response.status, body: (await response.json()) as any };
}

describe.each(["portal", "admin"] as const)("an identity provider of the %s", (audience) => {
  test("ends all tokens and sessions of a session or person named in a back-channel logout, and no others", async () => {
    const [one, other] = [await signedIn(audience, `${audience}-ada`, "s-1"), await signedIn(audience, `${audience}-bo`, "s-2")];
    expect([await one.works(), await other.works()]).toEqual([true, true]);
    expect(await sendLogoutToken(audience, await logoutToken({ sid: "s-1" }))).toEqual({ status: 200, body: {} });
    expect([await one.works(), await one.renews(), await other.works(), await other.renews()]).toEqual([false, false, true, true]);
    // A logout token with only the subject ends all their sessions.
    await sendLogoutToken(audience, await logoutToken({ sub: `${audience}-bo` }));
    expect([await other.works(), await other.renews()]).toEqual([false, false]);
    const again = await signedIn(audience, `${audience}-ada`);
    expect(await again.works()).toBe(true);
  });

  test("ends a session that began without a session ID by its subject, but not sessions with another ID", async () => {
    const [unnamed, named] = [await signedIn(audience, `${audience}-max`), await signedIn(audience, `${audience}-moe`, "s-20")];
    await sendLogoutToken(audience, await logoutToken({ sub: `${audience}-moe`, sid: "s-21" }));
    await sendLogoutToken(audience, await logoutToken({ sid: "s-21" }));
    expect([await unnamed.works(), await named.works()]).toEqual([true, true]);
    await sendLogoutToken(audience, await logoutToken({ sub: `${audience}-max`, sid: "s-22" }));
    expect([await unnamed.works(), await unnamed.renews(), await named.works()]).toEqual([false, false, true]);
  });

  test("invalidates by a back-channel logout also the code of a sign-in that has not been exchanged yet", async () => {
    const before = await arrived(audience, `${audience}-rae`, "s-3");
    await sendLogoutToken(audience, await logoutToken({ sid: "s-3" }));
    const refused = await before.exchange();
    expect([refused.status, ((await refused.json()) as any).code]).toEqual([403, "sign_on_refused"]);
    const after = await arrived(audience, `${audience}-rae`, "s-4");
    expect((await after.exchange()).status).toBe(200);
  });

  test("ends the sessions of a person who is unlinked from it, and no others", async () => {
    const [gone, other] = [await signedIn(audience, `${audience}-gone`), await signedIn(audience, `${audience}-stays`)];
    const unlinked = await world.admin.request(
      "DELETE",
      `/v1/admin/identity-providers/${providers[audience].id}/identities?subject=${audience}-gone`,
    );
    expect(unlinked.status).toBe(204);
    expect([await gone.works(), await gone.renews(), await other.works(), await other.renews()]).toEqual([false, false, true, true]);
  });

  test("ends no session by an invalid logout token", async () => {
    const page = await signedIn(audience, `${audience}-eve`, "s-9");
    const now = Math.floor(Date.now() / 1000);
    const good = { sid: "s-9" };
    const used = await logoutToken({ sub: "nobody-here" });
    await sendLogoutToken(audience, used);
    for (const [what, token] of [
      ["a foreign key of the same name", await issuer.signForeign({ aud: "gatehouse", jti: "1", events: EVENTS, ...good })],
      ["an ID token", await issuer.sign({ aud: "gatehouse", sub: `${audience}-eve`, sid: "s-9" })],
      ["another type", await logoutToken(good, { typ: "JWT" })],
      ["another audience", await logoutToken({ ...good, aud: "another" })],
      ["another issuer", await logoutToken({ ...good, iss: "https://evil.example" })],
      ["another event", await logoutToken({ ...good, events: { "http://schemas.openid.net/event/other": {} } })],
      ["a nonce", await logoutToken({ ...good, nonce: "n" })],
      ["nobody named", await logoutToken({})],
      ["no jti", await logoutToken({ ...good, jti: undefined })],
      ["an old one", await logoutToken({ ...good, iat: now - 7200, exp: now + 60 })],
      ["one that is over", await logoutToken({ ...good, iat: now - 400, exp: now - 120 })],
      ["one that came before", used],
      ["no token", "nonsense"],
    ] as const) {
      const { status, body } = await sendLogoutToken(audience, token);
      expect([what, status, body.error]).toEqual([what, 400, "invalid_request"]);
    }
    expect([await page.works(), await page.renews()]).toEqual([true, true]);
    // Another provider record of the same issuer has its own sessions.
    const neighbour = await make(audience);
    expect((await sendLogoutToken(audience, await logoutToken(good), neighbour)).status).toBe(200);
    expect(await page.works()).toBe(true);
  });

  test("is where sign-out continues, once, and only where sign_out is set", async () => {
    const { base, origin } = planeOf(audience);
    const ask = async ({ token }: SignedInPage) => {
      const response = await fetch(`${base}/sign-out`, { method: "POST", headers: { authorization: `Bearer ${token}` } });
      return ((await response.json()) as { continue_at: string | null }).continue_at;
    };
    const page = await signedIn(audience, `${audience}-kim`);
    const address = new URL((await ask(page)) ?? "");
    expect(address.origin + address.pathname).toBe(`${issuer.issuer}/logout`);
    const { id_token_hint: hint = "", post_logout_redirect_uri: back } = Object.fromEntries(address.searchParams);
    expect([decodeJwt(hint).sub, back]).toEqual([`${audience}-kim`, `${origin}/${audience === "portal" ? "portal" : "console"}/`]);
    expect(await ask(page)).toBeNull();
    expect(await ask(await signedIn(audience, `${audience}-lou`, undefined, await make(audience)))).toBeNull();
  });
});

test("must_change_password applies to a sign-in with the password, and not to one through the provider", async () => {
  const username = "handed-out";
  const { user } = await world.admin.post("/v1/admin/end-users", { tenant_id: "default", username, password: PASSWORD });
  const provider = await make("portal");
  await world.admin.post(`/v1/admin/identity-providers/${provider.id}/identities`, { subject: "handed-1", end_user_id: user.id });
  await world.admin.request("PATCH", `/v1/admin/end-users/${user.id}`, { must_change_password: true });
  const runtime = world.gateway.runtimeUrl;
  const listed = async (token: string | null) => (await portalClient(runtime, token).request("GET", "/models")).body.code ?? "listed";
  const page = await signedIn("portal", "handed-1", undefined, provider);
  const renewed = await page.browser.go(`${runtime}/v1/portal/auth/session/renew`, { method: "POST", headers: OWN_PAGE });
  const next = (await renewed.json()) as { access_token: string; user: object };
  expect(next.user).not.toHaveProperty("must_change_password");
  const { groupId } = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  await world.admin.request("PATCH", `/v1/admin/end-users/${user.id}/primary-group`, { group_id: groupId });
  const jobs = async (path: string, body?: object) =>
    (
      await fetch(`${runtime}/v1/proxy/batch/jobs${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${page.token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    ).json() as Promise<any>;
  const requests = [{ custom_id: "one", body: { messages: [{ role: "user", content: "hello" }] } }];
  const { id } = await jobs("", { model: "fake-1", requests });
  const job = await until(
    () => jobs(`/${id}`),
    ({ status }) => status === "completed" || status === "failed",
  );
  expect(job.request_counts).toMatchObject({ completed: 1, failed: 0 });
  expect([await listed(page.token), await listed(next.access_token)]).toEqual(["listed", "listed"]);
  const byPassword = await portalClient(runtime).request("POST", "/auth/login", { username, password: PASSWORD });
  expect([byPassword.body.user.must_change_password, await listed(byPassword.body.access_token)]).toEqual([
    true,
    "password_change_required",
  ]);
});

test("people whose joined subject claims are equal stay separate, and one known by the old joined form is found", async () => {
  const provider = await make("portal", { subject_claims: ["org", "sub"] });
  const userOf = async (org: string, sub: string) => {
    const preferred_username = crypto.randomUUID();
    return decodeJwt((await signInByProvider(world, issuer, provider, { org, sub, preferred_username })).token)["user_id"];
  };
  const first = await userOf("a/b", "c");
  await sql`UPDATE external_identities SET subject = 'a/b/c', exact = false WHERE provider_id = ${provider.id}`.execute(connection.db);
  expect(await userOf("a/b", "c")).toEqual(first);
  const other = await userOf("a", "b/c");
  expect([other === first, await userOf("a", "b/c")]).toEqual([false, other]);
});

test("an administrator deactivated by the directory during sign-in is signed out", async () => {
  const { token } = await world.admin.post("/v1/admin/scim-tokens", { tenant_id: "default", name: "d", directory: "entra" });
  const scim = scimClient(world.gateway.adminUrl, token);
  const person = (await scim.send("POST", "/Users", { userName: "leaver@example.com", externalId: "leaver-1" })).body;
  const provider = await make("admin");
  await world.admin.request("PATCH", `/v1/admin/identity-providers/${provider.id}`, { scim_directory: "entra" });
  const waitingFor = async (pid: number | undefined) =>
    (await sql<{ pid: number }>`SELECT pid FROM pg_stat_activity WHERE ${pid} = ANY(pg_blocking_pids(pid))`.execute(connection.db)).rows;
  // A transaction that inserts an account of the same name blocks the sign-in, then rolls back.
  const held = await connection.db.startTransaction().execute();
  const holder = (await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(held)).rows[0];
  await sql`INSERT INTO admin_users (id, tenant_id, username, password_hash, role) VALUES (gen_random_uuid(), 'default', 'leaver-1@example.com', '', 'viewer')`.execute(
    held,
  );
  const arriving = arrived("admin", "leaver-1", undefined, provider);
  const [signingIn] = await until(
    () => waitingFor(holder?.pid),
    (waiting) => waiting.length === 1,
  );
  let isOff = false;
  const off = scim.send("PATCH", `/Users/${person.id}`, patchOf({ op: "replace", path: "active", value: false })).then(({ status }) => {
    isOff = true;
    return status;
  });
  await until(
    () => waitingFor(signingIn?.pid),
    (waiting) => isOff || waiting.length === 1,
  );
  await held.rollback().execute();
  const { exchange } = await arriving;
  expect(await off).toBe(200);
  const refused = await exchange();
  expect([refused.status, ((await refused.json()) as any).code]).toEqual([403, "sign_on_refused"]);
});

test("an administrator is signed out by the directory's first request that names them as inactive", async () => {
  const { token } = await world.admin.post("/v1/admin/scim-tokens", { tenant_id: "default", name: "d", directory: "okta" });
  const scim = scimClient(world.gateway.adminUrl, token);
  const provider = await make("admin");
  const suspended = await signedIn("admin", "suspended-1", undefined, provider);
  const renamed = await signedIn("admin", "renamed-1", undefined, provider);
  // Setting the directory through the API would sign everyone out; earlier releases left them signed in, as this does.
  await sql`UPDATE identity_providers SET settings = settings || '{"scim_directory": "okta"}'::jsonb WHERE id = ${provider.id}`.execute(
    connection.db,
  );
  const post = await scim.send("POST", "/Users", { userName: "suspended@example.com", externalId: "suspended-1", active: false });
  expect([post.status, await suspended.works(), await suspended.renews(), await renamed.works()]).toEqual([201, false, false, true]);
  const { body: person } = await scim.send("POST", "/Users", { userName: "renamed@example.com" });
  const off = patchOf({ op: "replace", value: { externalId: "renamed-1", active: false } });
  expect([(await scim.send("PATCH", `/Users/${person.id}`, off)).status, await renamed.works()]).toEqual([200, false]);
});

test("the session end in a SAML assertion limits the browser session and all its tokens", async () => {
  const idp = await samlProvider();
  const provider = await world.admin.post("/v1/admin/identity-providers", {
    tenant_id: "default",
    kind: "saml",
    audience: "portal",
    name: "By SAML",
    create_accounts: true,
    attributes: { username: "mail" },
    saml: { entity_id: idp.entityId, sso_url: "https://idp.example/sso", certificates: [idp.certificate] },
  });
  const { base, session, origin } = planeOf("portal");
  const browser = signOnBrowser();
  const begun = await browser.go(`${base}/${provider.id}/start`);
  const { id, relayState } = idp.request(begun.headers.get("location") ?? "");
  const acs = `${base}/${provider.id}/acs`;
  const endsAt = Math.floor(Date.now() / 1000) + 90;
  const words = { acs, inResponseTo: id, subject: "short-1", attributes: { mail: "short@example.com" }, sessionUntil: endsAt };
  const answered = await browser.go(acs, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ SAMLResponse: idp.answer(words), RelayState: relayState }).toString(),
  });
  const code = movedOn(await answered.text())?.code;
  const exchanged = await browser.go(`${base}/exchange`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  const first = (await exchanged.json()) as { access_token: string; expires_in: number };
  expect(decodeJwt(first.access_token).exp).toBe(endsAt);
  expect(first.expires_in).toBeLessThanOrEqual(90);
  await browser.go(`${origin}${session}`, { method: "POST", headers: { ...OWN_PAGE, authorization: `Bearer ${first.access_token}` } });
  const renewed = await browser.go(`${origin}${session}/renew`, { method: "POST", headers: OWN_PAGE });
  const next = (await renewed.json()) as { access_token: string };
  expect(decodeJwt(next.access_token).exp).toBe(endsAt);
  expect((await portalClient(world.gateway.runtimeUrl, next.access_token).request("GET", "/auth/profile")).status).toBe(200);
});
