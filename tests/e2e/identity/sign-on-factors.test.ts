import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  arriveAtPage,
  makeSignOnProvider,
  OWN_PAGE,
  signInByProvider,
  type SignOnProviderRecord,
  signOnPlane,
} from "../../support/identity/sign-on-pages.ts";
import { startSigningIssuer, type SigningIssuer } from "../../support/identity/signing-issuer.ts";
import { totpCode } from "../../support/identity/totp.ts";
import { startWorld, type World } from "../../support/world.ts";

/** A tenant that requires two factors of its administrators, and administrators who sign in through an identity provider. */

const TENANT = "strict";
let world: World;
let issuer: SigningIssuer;

beforeAll(async () => {
  world = await startWorld();
  issuer = await startSigningIssuer();
  await world.admin.post("/v1/admin/tenants", { id: TENANT, name: TENANT, admin_two_factor: "required", local_passwords: false });
});
afterAll(async () => {
  await world.end();
  await issuer.stop();
});

let people = 0;
const make = (more: Record<string, unknown> = {}) =>
  makeSignOnProvider(world, issuer, "admin", { tenant_id: TENANT, group_mappings: [{ group: "all", role: "admin" }], ...more });
const call = (token: string, method: string, path: string, body?: object) =>
  fetch(`${world.gateway.adminUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const works = async (token: string) => (await call(token, "GET", "/v1/admin/end-users")).status;
const finish = (temp_token: string, code: string) => call("", "POST", "/v1/admin-users/login/2fa", { temp_token, code });

async function arrive(provider: SignOnProviderRecord, sub = `admin-${++people}`, claims: object = {}) {
  const { browser, exchange, status } = await arriveAtPage(world, issuer, provider, { sub, ...claims });
  return { sub, browser, status, answer: (await (await exchange()).json()) as any };
}

test("an administrator from a provider without a second factor owes one here at each sign-in", async () => {
  const provider = await make();
  const first = await arrive(provider);
  expect(first.answer.user.two_factor).toBe("owed");
  expect(await works(first.answer.access_token)).toBe(403);
  const { secret, backup_codes } = (await (await call(first.answer.access_token, "POST", "/v1/admin-users/2fa/setup")).json()) as any;
  const code = totpCode(secret, Math.floor(Date.now() / 30_000));
  expect((await call(first.answer.access_token, "POST", "/v1/admin-users/2fa/verify", { code })).status).toBe(200);
  expect(await works(first.answer.access_token)).toBe(200);

  const { answer: owed } = await arrive(provider, first.sub);
  expect(owed).toEqual({
    requires_2fa: true,
    temp_token: expect.any(String),
    user: { id: first.answer.user.id, username: expect.any(String) },
  });
  expect(await works(owed.temp_token)).toBe(401);
  expect((await finish(owed.temp_token, "000000")).status).toBe(401);
  const finished = await finish(owed.temp_token, backup_codes[0]);
  expect(finished.status).toBe(200);
  expect(await works(((await finished.json()) as any).access_token)).toBe(200);
  const log = await world.admin.get(`/v1/admin/admin-log?resource=admin-users&resource_id=${first.answer.user.id}&action=login`);
  expect(log.entries.map(({ after }: { after: unknown }) => after)).toEqual([{ kind: "sign_on" }]);

  // If signed out meanwhile, they have to start again.
  const { answer: late } = await arrive(provider, first.sub);
  await world.admin.request("PATCH", `/v1/admin/identity-providers/${provider.id}`, { enabled: false });
  expect((await finish(late.temp_token, backup_codes[1])).status).toBe(401);
});

test("an administrator from a provider with a second factor owes none here, also in the browser session", async () => {
  const provider = await make({ two_factor_at_provider: true, oidc: { required_claims: { amr: ["mfa"] } } });
  expect((await arriveAtPage(world, issuer, provider, { sub: `admin-${++people}`, amr: ["pwd"] })).status).toBe(403);
  const { browser, answer } = await arrive(provider, undefined, { amr: ["pwd", "mfa"] });
  expect(answer.user.two_factor).toBe("off");
  expect(await works(answer.access_token)).toBe(200);
  const { session, origin } = signOnPlane(world, "admin");
  await browser.go(`${origin}${session}`, { method: "POST", headers: { ...OWN_PAGE, authorization: `Bearer ${answer.access_token}` } });
  const renewed = (await (await browser.go(`${origin}${session}/renew`, { method: "POST", headers: OWN_PAGE })).json()) as any;
  expect([renewed.user.two_factor, await works(renewed.access_token)]).toEqual(["off", 200]);

  // Sessions that relied on the provider's second factor end with the setting.
  await world.admin.request("PATCH", `/v1/admin/identity-providers/${provider.id}`, { two_factor_at_provider: false });
  expect([await works(answer.access_token), await works(renewed.access_token)]).toEqual([401, 401]);
});

test("requiring two factors ends running sessions of administrators who signed in without theirs", async () => {
  await world.admin.post("/v1/admin/tenants", { id: "relaxed", name: "relaxed" });
  const [asksNone, asksOne] = [await make({ tenant_id: "relaxed" }), await make({ tenant_id: "relaxed", two_factor_at_provider: true })];
  const enrol = async (token: string) => {
    const { secret, backup_codes } = (await (await call(token, "POST", "/v1/admin-users/2fa/setup")).json()) as any;
    const code = totpCode(secret, Math.floor(Date.now() / 30_000));
    expect((await call(token, "POST", "/v1/admin-users/2fa/verify", { code })).status).toBe(200);
    return backup_codes as string[];
  };
  const signIn = (provider: SignOnProviderRecord, sub: string) => signInByProvider(world, issuer, provider, { sub });
  const [codes] = [
    await enrol((await signIn(asksNone, "enrolled")).token),
    await enrol((await signIn(asksOne, "enrolled-elsewhere")).token),
  ];
  const [skipped, elsewhere, unenrolled] = [
    await signIn(asksNone, "enrolled"),
    await signIn(asksOne, "enrolled-elsewhere"),
    await signIn(asksNone, "unenrolled"),
  ];
  const change = (body: object) => world.admin.request("PATCH", "/v1/admin/tenants/relaxed", body);
  await change({ display_name: "Relaxed", admin_two_factor: "optional" });
  expect([await skipped.works(), await skipped.renews()]).toEqual([true, true]);

  await change({ admin_two_factor: "required" });
  expect([await skipped.works(), await skipped.renews()]).toEqual([false, false]);
  expect([await elsewhere.works(), await elsewhere.renews()]).toEqual([true, true]);
  expect(await works(unenrolled.token)).toBe(403);
  const { answer: owed } = await arrive(asksNone, "enrolled");
  expect((await finish(owed.temp_token, codes?.[0] ?? "")).status).toBe(200);
  const log = await world.admin.get("/v1/admin/admin-log?resource=tenants&resource_id=relaxed&action=sign_out");
  expect(log.entries.map(({ after }: { after: unknown }) => after)).toEqual([{ reason: "admin_two_factor", administrators: 1 }]);
});

test("administrators who signed in before their provider asked for a second factor are signed out when it does", async () => {
  await world.admin.post("/v1/admin/tenants", { id: "turning", name: "turning" });
  const provider = await make({ tenant_id: "turning" });
  const early = await signInByProvider(world, issuer, provider, { sub: "early" });
  const { secret } = (await (await call(early.token, "POST", "/v1/admin-users/2fa/setup")).json()) as any;
  const code = totpCode(secret, Math.floor(Date.now() / 30_000));
  expect((await call(early.token, "POST", "/v1/admin-users/2fa/verify", { code })).status).toBe(200);
  await world.admin.request("PATCH", `/v1/admin/identity-providers/${provider.id}`, { two_factor_at_provider: true });
  expect([await early.works(), await early.renews()]).toEqual([false, false]);

  const late = await signInByProvider(world, issuer, provider, { sub: "early" });
  await world.admin.request("PATCH", "/v1/admin/tenants/turning", { admin_two_factor: "required" });
  expect([await late.works(), await late.renews()]).toEqual([true, true]);
});
