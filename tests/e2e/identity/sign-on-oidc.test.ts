import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SignJWT, UnsecuredJWT } from "jose";
import { scimClient } from "../../support/identity/scim.ts";
import { movedOn, signOnBrowser, type SignOnBrowser } from "../../support/identity/sign-on-browser.ts";
import { startSigningIssuer, type SigningIssuer } from "../../support/identity/signing-issuer.ts";
import { rowOf } from "../../support/worlds/admin.ts";
import { portalClient } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Signing in with OpenID Connect, including a provider that does what an honest one never would. */

let world: World;
let issuer: SigningIssuer;
let portal: any;
let consoleProvider: any;
let groupId: string;

const provider = (more: object) => ({
  tenant_id: "default",
  kind: "oidc",
  oidc: { issuer: issuer.issuer, client_id: "gatehouse" },
  client_secret: "a secret",
  ...more,
});

beforeAll(async () => {
  world = await startWorld();
  issuer = await startSigningIssuer();
  groupId = (await world.admin.post("/v1/admin/end-user-groups", { tenant_id: "default", name: "engineers" })).id;
  portal = await world.admin.post(
    "/v1/admin/identity-providers",
    provider({
      name: "Company",
      audience: "portal",
      create_accounts: true,
      allowed_domains: ["example.com"],
      group_mappings: [{ group: "eng", end_user_group_id: groupId }],
    }),
  );
  consoleProvider = await world.admin.post(
    "/v1/admin/identity-providers",
    provider({
      name: "Console",
      audience: "admin",
      create_accounts: true,
      group_mappings: [
        { group: "sec", role: "security" },
        { group: "all", role: "viewer" },
      ],
    }),
  );
});
afterAll(async () => {
  await world.end();
  await issuer.stop();
});

const sso = () => `${world.gateway.runtimeUrl}/v1/portal/auth/sso`;
const ADA = { sub: "ada-1", preferred_username: "ada@example.com", email: "ada@example.com", name: "Ada King", groups: ["eng"] };

/** Sets the claims for the next person who signs in. */
function answerWithClaims(claims: object, sign?: (claims: any) => Promise<string>): void {
  issuer.answer = async () => {
    const nonce = issuer.asked.at(-1)?.nonce;
    const all = { aud: "gatehouse", nonce, ...claims };
    return { access_token: "opaque", token_type: "Bearer", expires_in: 300, id_token: await (sign ?? issuer.sign)(all) };
  };
}

async function signIn(
  browser: SignOnBrowser = signOnBrowser(),
  start = `${sso()}/${portal.id}/start?return_to=/portal/chat`,
): Promise<{ response: Response; html: string }> {
  const response = await browser.follow(start);
  return { response, html: await response.text() };
}

const exchange = (browser: SignOnBrowser, code: string, base = sso()) =>
  browser.go(`${base}/exchange`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code }) });

describe("a person signed in by the provider", () => {
  test("gets an account, the mapped groups and a portal token, and is the same person at the next sign-in", async () => {
    const offers = await portalClient(world.gateway.runtimeUrl).request("GET", "/auth/sso?tenant_id=default");
    expect(offers.body).toEqual({
      providers: [{ id: portal.id, name: "Company", kind: "oidc", start: `/v1/portal/auth/sso/${portal.id}/start` }],
      local_passwords: true,
    });
    answerWithClaims(ADA);
    const browser = signOnBrowser();
    const { response, html } = await signIn(browser);
    expect([response.status, movedOn(html)?.to]).toEqual([200, "/portal/chat"]);
    expect(issuer.asked.at(-1)).toMatchObject({ code_challenge_method: "S256", response_type: "code", scope: "openid profile email" });
    const answer = (await (await exchange(browser, movedOn(html)?.code ?? "")).json()) as any;
    expect(answer).toMatchObject({
      token_type: "bearer",
      user: { username: "ada@example.com", display_name: "Ada King", email: "ada@example.com" },
    });
    const profile = await portalClient(world.gateway.runtimeUrl, answer.access_token).request("GET", "/auth/profile");
    expect([profile.status, profile.body.has_password]).toEqual([200, false]);
    const members = await world.admin.get(`/v1/admin/end-user-groups/${groupId}/members`);
    expect(members.members).toMatchObject([{ username: "ada@example.com", sources: [`sso-${portal.id}`] }]);

    // A second sign-in is the same person, removed from the group that the provider no longer names.
    answerWithClaims({ ...ADA, groups: [] });
    const again = signOnBrowser();
    const second = movedOn((await signIn(again)).html);
    expect(((await (await exchange(again, second?.code ?? "")).json()) as any).user.id).toBe(answer.user.id);
    expect((await world.admin.get(`/v1/admin/end-user-groups/${groupId}/members`)).members).toEqual([]);
  });

  test("loses mapped groups when unlinked, kept by a directory or no longer mapped, or when the provider is deleted", async () => {
    const mappings = { group_mappings: [{ group: "eng", end_user_group_id: groupId }] };
    const made = await world.admin.post(
      "/v1/admin/identity-providers",
      provider({ name: "Leaving", audience: "portal", create_accounts: true, ...mappings }),
    );
    const at = `/v1/admin/identity-providers/${made.id}`;
    const comeIn = async (sub: string) => {
      answerWithClaims({ ...ADA, sub, preferred_username: `${sub}@example.com` });
      expect((await signIn(signOnBrowser(), `${sso()}/${made.id}/start`)).response.status).toBe(200);
    };
    const members = async (): Promise<string[]> =>
      (await world.admin.get(`/v1/admin/end-user-groups/${groupId}/members`)).members.map((one: any) => one.username).toSorted();
    for (const sub of ["leaver-1", "leaver-2"]) await comeIn(sub);
    expect(await members()).toEqual(["leaver-1@example.com", "leaver-2@example.com"]);
    await world.admin.request("DELETE", `${at}/identities?subject=leaver-1`);
    expect(await members()).toEqual(["leaver-2@example.com"]);

    await world.admin.request("PATCH", at, { group_mappings: [{ group: "others", end_user_group_id: groupId }] });
    expect(await members()).toEqual(["leaver-2@example.com"]);
    await world.admin.request("PATCH", at, { group_mappings: [] });
    expect(await members()).toEqual([]);
    await world.admin.request("PATCH", at, mappings);
    await comeIn("leaver-2");

    expect((await world.admin.request("PATCH", at, { scim_directory: "another" })).status).toBe(200);
    expect(await members()).toEqual([]);
    await world.admin.request("PATCH", at, { scim_directory: null });
    await comeIn("leaver-2");
    expect(await members()).toEqual(["leaver-2@example.com"]);
    expect((await world.admin.request("DELETE", at)).status).toBe(204);
    expect(await members()).toEqual([]);
  });

  test("has audit rows with the identity that the provider sent last", async () => {
    const rowAs = async (claims: object) => {
      answerWithClaims({ ...ADA, ...claims });
      const browser = signOnBrowser();
      const answer = (await (await exchange(browser, movedOn((await signIn(browser)).html)?.code ?? "")).json()) as any;
      const call = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-gateway-authorization": `Bearer ${answer.access_token}` },
        body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hi" }] }),
      });
      return rowOf(world.admin, { id: call.headers.get("x-request-id") });
    };
    const ada = { gateway_user_username: "ada@example.com", idp_user_id: "ada-1" };
    expect(await rowAs({})).toMatchObject({ ...ada, idp_user_username: "ada@example.com", idp_user_email: "ada@example.com" });
    const renamed = { preferred_username: "ada.king@example.com", email: "king@example.com" };
    expect(await rowAs(renamed)).toMatchObject({ ...ada, idp_user_username: "ada.king@example.com", idp_user_email: "king@example.com" });
  });

  test("is not linked to an existing account by username or email address", async () => {
    await world.admin.post("/v1/admin/end-users", {
      tenant_id: "default",
      username: "grace@example.com",
      email: "grace@example.com",
      password: "long enough",
    });
    answerWithClaims({ ...ADA, sub: "grace-1", preferred_username: "grace@example.com", email: "grace@example.com", email_verified: true });
    const { response, html } = await signIn();
    expect(response.status).toBe(403);
    expect(html).toContain("There is already an account of this name");
  });

  test("is the person provisioned with the same external ID, and cannot sign in once deactivated by the directory", async () => {
    const { token } = await world.admin.post("/v1/admin/scim-tokens", { tenant_id: "default", name: "d", directory: "entra" });
    const scim = scimClient(world.gateway.adminUrl, token);
    const person = (await scim.send("POST", "/Users", { userName: "lin@example.com", externalId: "oid-9", active: true })).body;
    const linked = await world.admin.post(
      "/v1/admin/identity-providers",
      provider({
        name: "Linked",
        audience: "portal",
        scim_directory: "entra",
        oidc: { issuer: issuer.issuer, client_id: "gatehouse", subject_claims: ["tid", "oid"] },
      }),
    );
    answerWithClaims({ sub: "pairwise", tid: "t", oid: "oid-9", preferred_username: "someone.else@example.com" });
    const browser = signOnBrowser();
    const code = movedOn((await signIn(browser, `${sso()}/${linked.id}/start`)).html)?.code ?? "";
    expect(((await (await exchange(browser, code)).json()) as any).user.id).toBe(person.id);
    await scim.send("PATCH", `/Users/${person.id}`, { Operations: [{ op: "replace", path: "active", value: false }] });
    expect((await signIn(signOnBrowser(), `${sso()}/${linked.id}/start`)).response.status).toBe(403);
    const guarded = await world.admin.post(
      "/v1/admin/identity-providers",
      provider({
        name: "Guarded",
        audience: "admin",
        create_accounts: true,
        scim_directory: "entra",
        group_mappings: [{ group: "all", role: "viewer" }],
      }),
    );
    const base = `${world.gateway.adminUrl}/v1/admin-users/sso`;
    const active = (value: boolean) =>
      scim.send("PATCH", `/Users/${person.id}`, { Operations: [{ op: "replace", path: "active", value }] });
    const me = (bearer: string) => fetch(`${world.gateway.adminUrl}/v1/admin-users/me`, { headers: { authorization: `Bearer ${bearer}` } });
    answerWithClaims({ sub: "oid-9", preferred_username: "lin-admin@example.com", groups: ["all"] });
    expect((await signIn(signOnBrowser(), `${base}/${guarded.id}/start`)).response.status).toBe(403);
    await active(true);
    const adminToken = async (): Promise<string> => {
      const console = signOnBrowser();
      const last = movedOn((await signIn(console, `${base}/${guarded.id}/start`)).html)?.code ?? "";
      return ((await (await exchange(console, last, base)).json()) as any).access_token;
    };
    const first = await adminToken();
    expect((await me(first)).status).toBe(200);
    await active(false);
    expect((await me(first)).status).toBe(401);
    await active(true);
    answerWithClaims({ sub: "chosen/oid-9", preferred_username: "somebody@example.com", groups: ["all"] });
    expect((await signIn(signOnBrowser(), `${base}/${guarded.id}/start`)).html).toContain("does not know them");
    answerWithClaims({ sub: "oid-9", preferred_username: "lin-admin@example.com", groups: ["all"] });
    const second = await adminToken();
    await scim.send("PATCH", `/Users/${person.id}`, { Operations: [{ op: "replace", path: "externalId", value: "oid-10" }] });
    expect((await me(second)).status).toBe(401);
    answerWithClaims({ sub: "x", tid: "t", oid: "nobody", preferred_username: "new@example.com" });
    expect((await signIn(signOnBrowser(), `${sso()}/${linked.id}/start`)).html).toContain("There is no account for this sign-in");
  });

  test("is matched to the directory by the last of several subject claims as a whole, including slashes", async () => {
    const { token } = await world.admin.post("/v1/admin/scim-tokens", { tenant_id: "default", name: "d", directory: "okta" });
    const scim = scimClient(world.gateway.adminUrl, token);
    const create = async (userName: string, externalId: string) => (await scim.send("POST", "/Users", { userName, externalId })).body.id;
    const other = await create("other@example.com", "1234");
    const meant = await create("meant@example.com", "eu/1234");
    const linked = await world.admin.post(
      "/v1/admin/identity-providers",
      provider({
        name: "By region",
        audience: "portal",
        scim_directory: "okta",
        oidc: { issuer: issuer.issuer, client_id: "gatehouse", subject_claims: ["tid", "sub"] },
      }),
    );
    const signedIn = async (sub: string) => {
      answerWithClaims({ tid: "t", sub, preferred_username: "somebody@example.com" });
      const browser = signOnBrowser();
      const code = movedOn((await signIn(browser, `${sso()}/${linked.id}/start`)).html)?.code ?? "";
      return ((await (await exchange(browser, code)).json()) as any).user.id;
    };
    expect([await signedIn("eu/1234"), await signedIn("1234")]).toEqual([meant, other]);
  });

  test("has a console role only while their groups give one", async () => {
    const base = `${world.gateway.adminUrl}/v1/admin-users/sso`;
    answerWithClaims({ sub: "sec-1", preferred_username: "sec@example.com", groups: ["all", "sec"] });
    const browser = signOnBrowser();
    const { html } = await signIn(browser, `${base}/${consoleProvider.id}/start`);
    const answer = (await (await exchange(browser, movedOn(html)?.code ?? "", base)).json()) as any;
    expect(answer.user).toMatchObject({ username: "sec@example.com", role: "security", tenant_id: "default" });
    answerWithClaims({ sub: "sec-1", preferred_username: "sec@example.com", groups: ["all"] });
    await signIn(signOnBrowser(), `${base}/${consoleProvider.id}/start`);
    const me = await fetch(`${world.gateway.adminUrl}/v1/admin-users/me`, { headers: { authorization: `Bearer ${answer.access_token}` } });
    expect(((await me.json()) as any).role).toBe("viewer");
    answerWithClaims({ sub: "none-1", preferred_username: "none@example.com", groups: [] });
    expect((await signIn(signOnBrowser(), `${base}/${consoleProvider.id}/start`)).response.status).toBe(403);
  });
});

describe("a sign-on response", () => {
  test("with a wrong key, algorithm, audience, issuer, time, nonce or domain signs nobody in", async () => {
    const now = Math.floor(Date.now() / 1000);
    const hs256 = async (claims: any) =>
      new SignJWT({ iss: issuer.issuer, iat: now, exp: now + 300, ...claims })
        .setProtectedHeader({ alg: "HS256", kid: issuer.kid() })
        .sign(new TextEncoder().encode(await issuer.publicKeyPem()));
    const none = async (claims: any) => new UnsecuredJWT({ iss: issuer.issuer, iat: now, exp: now + 300, ...claims }).encode();
    for (const [what, claims, sign] of [
      ["a foreign key of the same name", ADA, issuer.signForeign],
      ["HS256 with the public key", ADA, hs256],
      ["alg none", ADA, none],
      ["another audience", { ...ADA, aud: "another" }],
      ["several audiences without azp", { ...ADA, aud: ["gatehouse", "another"] }],
      ["another issuer", { ...ADA, iss: "https://evil.example" }],
      ["another nonce", { ...ADA, nonce: "other" }],
      ["no nonce", { ...ADA, nonce: undefined }],
      ["expired", { ...ADA, iat: now - 600, exp: now - 120 }],
      ["a domain that is not allowed", { ...ADA, sub: "x", email: "ada@evil.example" }],
      ["nobody", { ...ADA, sub: undefined }],
    ] as [string, object, ((claims: any) => Promise<string>)?][]) {
      answerWithClaims(claims, sign);
      const { response, html } = await signIn();
      expect([what, response.status, movedOn(html)]).toEqual([what, 403, null]);
      expect(html).toContain("You were not signed in");
      expect(html).toContain('<a href="/portal/">Back to sign-in</a>');
    }
  });

  test("to another browser or provider, or used a second time, signs nobody in", async () => {
    answerWithClaims(ADA);
    const victim = signOnBrowser();
    const attacker = signOnBrowser();
    const begun = await attacker.go(`${sso()}/${portal.id}/start`);
    const back = (await attacker.go(begun.headers.get("location") ?? "")).headers.get("location") ?? "";
    expect((await victim.go(back)).status).toBe(403);
    await victim.go(`${sso()}/${portal.id}/start`);
    expect((await victim.go(back)).status).toBe(403);
    expect((await attacker.go(back.replace(/state=[^&]+/, "state=forged"))).status).toBe(403);
    const done = await attacker.go(back);
    const code = movedOn(await done.text())?.code ?? "";
    expect((await attacker.go(back)).status).toBe(403);
    // The page's code works only in that browser, and only once.
    expect((await exchange(victim, code)).status).toBe(403);
    const renewed = signOnBrowser();
    const fresh = movedOn((await signIn(renewed)).html)?.code ?? "";
    expect((await exchange(renewed, fresh, `${world.gateway.adminUrl}/v1/admin-users/sso`)).status).toBe(403);
    expect((await exchange(renewed, fresh)).status).toBe(200);
    expect((await exchange(renewed, fresh)).status).toBe(403);
  });

  test("still completes its sign-in after another one was completed in the same browser", async () => {
    answerWithClaims(ADA);
    const browser = signOnBrowser();
    const start = `${sso()}/${portal.id}/start`;
    const first = await browser.go(start);
    const back = (await browser.go(first.headers.get("location") ?? "")).headers.get("location") ?? "";
    // A complete sign-in in another tab.
    const other = movedOn((await signIn(browser, start)).html);
    expect((await exchange(browser, other?.code ?? "")).status).toBe(200);
    answerWithClaims({ ...ADA, nonce: new URL(first.headers.get("location") ?? "").searchParams.get("nonce") });
    const { status } = await exchange(browser, movedOn(await (await browser.go(back)).text())?.code ?? "");
    expect(status).toBe(200);
  });

  test("never sends the browser to another host given as return_to", async () => {
    answerWithClaims(ADA);
    for (const path of [
      "https://evil.example",
      "//evil.example",
      "/\\evil.example",
      "/ok\\..",
      "javascript:alert(1)",
      "portal",
      "/a\tb",
      "/%0d%0aset-cookie:x",
    ]) {
      const { html } = await signIn(signOnBrowser(), `${sso()}/${portal.id}/start?return_to=${encodeURIComponent(path)}`);
      expect([path, movedOn(html)?.to]).toEqual([path, path.startsWith("/%0d") ? path : "/"]);
    }
  });
});

test("after the provider rotates its key, the new one is fetched and the sign-in succeeds", async () => {
  answerWithClaims(ADA);
  await signIn();
  await issuer.rotate();
  const { response, html } = await signIn();
  expect([response.status, movedOn(html) === null]).toEqual([200, false]);
});

test("an ID token that names no key is verified by each key that its provider publishes while it rotates them", async () => {
  const unnamed = { kid: undefined };
  await issuer.rotate({ keep: true });
  answerWithClaims(ADA, (claims) => issuer.sign(claims, unnamed));
  const { response, html } = await signIn();
  expect([response.status, movedOn(html) === null]).toEqual([200, false]);
  answerWithClaims(ADA, (claims) => issuer.signForeign(claims, unnamed));
  expect((await signIn()).response.status).toBe(403);
});

test("a test sign-in shows the claims and their result, and signs nobody in", async () => {
  const { start, address } = await world.admin.post(`/v1/admin/identity-providers/${portal.id}/test`, {});
  expect(address).toBe(`${world.gateway.runtimeUrl}${start}`);
  answerWithClaims({ ...ADA, sub: "never-seen", preferred_username: "<b>new</b>@example.com" });
  const { response, html } = await signIn(signOnBrowser(), `${world.gateway.runtimeUrl}${start}`);
  expect([response.status, movedOn(html)]).toEqual([200, null]);
  expect(html).toContain("never-seen");
  expect(html).toContain(groupId);
  expect(html).not.toContain("<b>new");
  const forged = await signIn(signOnBrowser(), `${sso()}/${portal.id}/start?test=9999999999999.00`);
  expect(forged.response.status).toBe(403);
});

test("only a test sign-in shows why the provider's response was refused", async () => {
  const start = async () => {
    const made = await world.admin.post(`/v1/admin/identity-providers/${portal.id}/test`, {});
    return `${world.gateway.runtimeUrl}${made.start}`;
  };
  answerWithClaims({ ...ADA, aud: "another" });
  expect((await signIn(signOnBrowser(), await start())).html).toContain("unexpected JWT &quot;aud&quot; (audience) claim value");
  expect((await signIn()).html).toContain("does not prove who you are.</p>");
  issuer.answer = async () => Response.json({ error: "invalid_client", error_description: "not a secret" }, { status: 401 });
  const { html } = await signIn(signOnBrowser(), await start());
  expect(html).toContain("the provider answered 401 invalid_client");
  expect(html).not.toContain("not a secret");
  expect((await signIn()).html).not.toContain("invalid_client");
});

test("the client secret is sent in the token request's body if the provider supports that, else in the header", async () => {
  answerWithClaims(ADA);
  await signIn();
  expect(issuer.authenticated.at(-1)).toBe(`Basic ${btoa("gatehouse:a+secret")}`);
  issuer.document = { token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"] };
  await world.admin.request("PATCH", `/v1/admin/identity-providers/${portal.id}`, { client_secret: "another secret" });
  await signIn();
  expect(issuer.authenticated.at(-1)).toBe("another secret");
  issuer.document = {};
});

test("a provider can be disabled after a mapped group was deleted, but a deleted group cannot be mapped anew", async () => {
  const { id } = await world.admin.post("/v1/admin/end-user-groups", { tenant_id: "default", name: "passing" });
  const made = await world.admin.post(
    "/v1/admin/identity-providers",
    provider({ name: "Of before", audience: "portal", group_mappings: [{ group: "eng", end_user_group_id: id }] }),
  );
  expect((await world.admin.request("DELETE", `/v1/admin/end-user-groups/${id}`)).status).toBe(204);
  const patch = (body: object) => world.admin.request("PATCH", `/v1/admin/identity-providers/${made.id}`, body);
  expect(await patch({ enabled: false })).toMatchObject({ status: 200, body: { enabled: false } });
  const added = { group: "all", end_user_group_id: crypto.randomUUID() };
  expect((await patch({ group_mappings: [...made.group_mappings, added] })).status).toBe(400);
  expect((await patch({ group_mappings: [] })).status).toBe(200);
  expect((await patch({ group_mappings: made.group_mappings })).status).toBe(400);
});

test("a provider that is unreachable or disabled signs nobody in", async () => {
  const gone = await world.admin.post(
    "/v1/admin/identity-providers",
    provider({ name: "Gone", audience: "portal", oidc: { issuer: "http://127.0.0.1:9", client_id: "g" } }),
  );
  expect((await signIn(signOnBrowser(), `${sso()}/${gone.id}/start`)).html).toContain("cannot be reached");
  await world.admin.request("PATCH", `/v1/admin/identity-providers/${gone.id}`, { enabled: false });
  expect((await signIn(signOnBrowser(), `${sso()}/${gone.id}/start`)).response.status).toBe(404);
  expect((await signIn(signOnBrowser(), `${sso()}/${consoleProvider.id}/start`)).response.status).toBe(404);
});

test("with local passwords disabled only break-glass administrators can use a password", async () => {
  await world.admin.post("/v1/admin/tenants", { id: "strict", name: "strict" });
  const password = "a long enough password";
  await world.admin.post("/v1/admin/end-users", { tenant_id: "strict", username: "someone", password });
  await world.admin.post("/v1/admin/admin-users", { tenant_id: "strict", username: "everyday", password, role: "admin" });
  await world.admin.post("/v1/admin/admin-users", { tenant_id: "strict", username: "glass", password, role: "owner", break_glass: true });
  await world.admin.post("/v1/admin/end-users", { tenant_id: "strict", username: "owing", password, must_change_password: true });
  const person = (username = "someone") =>
    portalClient(world.gateway.runtimeUrl).request("POST", "/auth/login", { username, password }, { "x-tenant-id": "strict" });
  const admin = async (username: string) => {
    const login = await fetch(`${world.gateway.adminUrl}/v1/admin-users/tenant/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username, password, tenant_id: "strict" }),
    });
    return { status: login.status, token: ((await login.json()) as any).access_token as string };
  };
  const before = { person: await person(), owing: await person("owing"), everyday: await admin("everyday"), glass: await admin("glass") };
  expect([before.person.status, before.everyday.status, before.glass.status]).toEqual([200, 200, 200]);
  await world.admin.request("PATCH", "/v1/admin/tenants/strict", { local_passwords: false });
  const refused = await person();
  expect([refused.status, refused.body.code, (await admin("everyday")).status, (await admin("glass")).status]).toEqual([
    403,
    "local_passwords_off",
    401,
    200,
  ]);
  // Sessions that may have begun with a password ended; only who still owes a password of their own goes on to choose one.
  const change = { current_password: password, new_password: "another one of mine" };
  const changed = ({ body }: Awaited<ReturnType<typeof person>>) =>
    portalClient(world.gateway.runtimeUrl, body.access_token).request("POST", "/auth/change-password", change);
  const profile = await portalClient(world.gateway.runtimeUrl, before.person.body.access_token).request("GET", "/auth/profile");
  expect(profile.status).toBe(401);
  expect([(await changed(before.person)).status, (await changed(before.owing)).status]).toEqual([401, 200]);
  const { entries } = await world.admin.get("/v1/admin/admin-log?resource=tenants&resource_id=strict&action=sign_out");
  expect(entries.map(({ after }: { after: unknown }) => after)).toEqual([{ reason: "local_passwords", people: 1, administrators: 1 }]);
  for (const [token, status] of [
    [before.everyday.token, 401],
    [before.glass.token, 200],
  ] as const) {
    const answer = await fetch(`${world.gateway.adminUrl}/v1/admin-users/change-password`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(change),
    });
    expect(answer.status).toBe(status);
  }
  const offers = (tenant: string) => portalClient(world.gateway.runtimeUrl).request("GET", `/auth/sso?tenant_id=${tenant}`);
  // Strangers cannot find out which tenants exist.
  expect((await offers("strict")).body).toEqual((await offers("nowhere")).body);
  const register = await portalClient(world.gateway.runtimeUrl).request(
    "POST",
    "/auth/register",
    { username: "new", password },
    { "x-tenant-id": "strict" },
  );
  expect(register.status).toBe(403);
});
