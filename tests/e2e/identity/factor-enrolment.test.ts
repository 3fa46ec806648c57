import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makeSignOnProvider, OWN_PAGE, type SignOnAudience, signInByProvider, signOnPlane } from "../../support/identity/sign-on-pages.ts";
import { startSigningIssuer, type SigningIssuer } from "../../support/identity/signing-issuer.ts";
import { newPerson, PASSWORD } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Whoever sets up a second factor has just signed in, or shows that they know the password. */

let world: World;
let issuer: SigningIssuer;

beforeAll(async () => {
  world = await startWorld();
  issuer = await startSigningIssuer();
  await newPerson(world.gateway.runtimeUrl, "ada");
  await world.admin.post("/v1/admin/admin-users", { tenant_id: "default", username: "ada", password: PASSWORD });
});
afterAll(async () => {
  await world.end();
  await issuer.stop();
});

const ofPlane = (plane: SignOnAudience) =>
  plane === "portal" ? `${world.gateway.runtimeUrl}/v1/portal/auth` : `${world.gateway.adminUrl}/v1/admin-users`;

const post = (url: string, { token, cookie, body }: { token?: string; cookie?: string; body?: object }) =>
  fetch(url, {
    method: "POST",
    headers: {
      ...OWN_PAGE,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(cookie === undefined ? {} : { cookie }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

describe.each(["portal", "admin"] as const)("at the %s plane", (plane) => {
  const setUp = async (token: string, body?: object) => {
    const answer = await post(`${ofPlane(plane)}/2fa/setup`, { token, ...(body === undefined ? {} : { body }) });
    const { fields, backup_codes: codes, code, error } = (await answer.json()) as any;
    return { status: answer.status, code: code ?? error?.code, message: fields?.[0], codes };
  };

  test("a page that stays signed in must send the password to set up a second factor; a new sign-in need not", async () => {
    const login = await post(`${ofPlane(plane)}/login`, { body: { username: "ada", password: PASSWORD } });
    const { access_token: token } = (await login.json()) as { access_token: string };
    const begun = await post(`${ofPlane(plane)}/session`, { token });
    const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? "";
    const renewal = await post(`${ofPlane(plane)}/session/renew`, { cookie });
    const { access_token: renewed } = (await renewal.json()) as { access_token: string };

    const needed = { field: "password", message: "is required, unless you have just signed in" };
    expect(await setUp(renewed)).toMatchObject({ status: 400, message: needed });
    const wrong = { status: 400, message: { field: "password", message: "is wrong" } };
    expect(await setUp(renewed, { password: "wrong" })).toMatchObject(wrong);
    expect(await setUp(token, { password: "wrong" })).toMatchObject(wrong);
    expect((await setUp(renewed, { password: PASSWORD })).codes).toHaveLength(10);
    expect((await setUp(token)).codes).toHaveLength(10);
  });

  test("somebody without a password must have just signed in by their identity provider; a page that stays signed in is refused", async () => {
    const provider = await makeSignOnProvider(world, issuer, plane);
    const { browser, token } = await signInByProvider(world, issuer, provider, { sub: `without-password-${plane}` });
    const { session, origin } = signOnPlane(world, plane);
    const renewal = await browser.go(`${origin}${session}/renew`, { method: "POST", headers: OWN_PAGE });
    const { access_token: renewed } = (await renewal.json()) as { access_token: string };
    for (const body of [undefined, { password: PASSWORD }])
      expect(await setUp(renewed, body)).toMatchObject({ status: 403, code: "recent_sign_in_required" });
    expect((await setUp(token)).codes).toHaveLength(10);
  });
});

test("a wrong password of an administrator who is signed in is in the admin log", async () => {
  const body = { tenant_id: "default", username: "grace", password: PASSWORD };
  const { id } = await world.admin.post("/v1/admin/admin-users", body);
  const login = await post(`${ofPlane("admin")}/login`, { body: { username: "grace", password: PASSWORD } });
  const { access_token: token } = (await login.json()) as { access_token: string };
  await post(`${ofPlane("admin")}/2fa/setup`, { token, body: { password: "wrong" } });
  const { entries } = await world.admin.get(`/v1/admin/admin-log?resource=admin-users&resource_id=${id}&action=begin_2fa_failed`);
  expect(entries).toMatchObject([{ actor_id: id, after: { reason: "wrong_password" } }]);
});
