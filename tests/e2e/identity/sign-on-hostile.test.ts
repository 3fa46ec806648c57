import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { signIn as signInAdmin, type AdminClient } from "../../support/worlds/admin.ts";
import { movedOn, signOnBrowser, type SignOnBrowser } from "../../support/identity/sign-on-browser.ts";
import { samlProvider, type SamlProviderFixture } from "../../support/identity/saml-provider.ts";
import { startSigningIssuer, type SigningIssuer } from "../../support/identity/signing-issuer.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Sign-ins and settings that would let someone in as another person or with more rights than they have. */

let world: World;
let issuer: SigningIssuer;
let other: SigningIssuer;
let idp: SamlProviderFixture;

beforeAll(async () => {
  [world, issuer, other, idp] = await Promise.all([startWorld(), startSigningIssuer(), startSigningIssuer(), samlProvider()]);
});
afterAll(async () => {
  await world.end();
  await Promise.all([issuer.stop(), other.stop()]);
});

let number = 0;
const provider = (more: object) =>
  world.admin.post("/v1/admin/identity-providers", {
    tenant_id: "default",
    kind: "oidc",
    audience: "portal",
    name: `provider ${++number}`,
    oidc: { issuer: issuer.issuer, client_id: `client-${number}` },
    client_secret: "a secret",
    create_accounts: true,
    ...more,
  });

async function signIn(made: any, claims: object, at: SigningIssuer = issuer) {
  at.answer = async () => {
    const { nonce, client_id: aud } = at.asked.at(-1) ?? {};
    const id_token = await at.sign({ aud, nonce, ...claims });
    return { access_token: "opaque", token_type: "Bearer", expires_in: 300, id_token };
  };
  const browser = signOnBrowser();
  const base =
    made.audience === "admin" ? `${world.gateway.adminUrl}/v1/admin-users/sso` : `${world.gateway.runtimeUrl}/v1/portal/auth/sso`;
  const response = await browser.follow(`${base}/${made.id}/start`);
  const html = await response.text();
  const exchange = () =>
    browser.go(`${base}/exchange`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code: movedOn(html)?.code }),
    });
  return { status: response.status, html, exchange };
}

describe("an administrator who is not an owner", () => {
  const password = "a long enough password";
  let admin: AdminClient;
  let console: any;

  beforeAll(async () => {
    console = await provider({ audience: "admin", group_mappings: [{ group: "all", role: "viewer" }] });
    await world.admin.post("/v1/admin/admin-users", { tenant_id: "default", username: "no-owner", password, role: "admin" });
    admin = await signInAdmin(world.gateway.adminUrl, { username: "no-owner", password, tenant_id: "default" }, "tenant");
  });

  test("cannot change or delete an identity provider through which an owner signs in", async () => {
    const boss = { sub: "boss", preferred_username: "boss@example.com", groups: ["all"] };
    const { user } = (await (await (await signIn(console, boss)).exchange()).json()) as any;
    const mine = { oidc: { issuer: other.issuer, client_id: console.oidc.client_id } };
    const patch = (body: object) => admin.request("PATCH", `/v1/admin/identity-providers/${console.id}`, body);
    expect((await patch({ name: "Console" })).status).toBe(200);
    await world.admin.request("PATCH", `/v1/admin/admin-users/${user.id}`, { role: "owner" });
    for (const body of [mine, { oidc: { ...console.oidc, subject_claims: ["email"] } }]) {
      const refused = await patch(body);
      expect([refused.status, refused.body.code]).toEqual([403, "forbidden"]);
    }
    expect((await admin.request("DELETE", `/v1/admin/identity-providers/${console.id}`)).status).toBe(403);
    expect((await world.admin.request("PATCH", `/v1/admin/identity-providers/${console.id}`, { name: "Console 2" })).status).toBe(200);
  });
});

test("the address of an issuer's discovery document is refused as the issuer", async () => {
  const body = { tenant_id: "default", kind: "oidc", audience: "portal", name: "By its document" };
  const oidc = { issuer: `${issuer.issuer}/.well-known/openid-configuration`, client_id: "gatehouse" };
  const refused = await world.admin.request("POST", "/v1/admin/identity-providers", { ...body, oidc });
  expect([refused.status, refused.body.fields?.[0]?.field]).toEqual([400, "oidc.issuer"]);
});

test("an OIDC client ID for sign-on and an audience for API tokens must differ, whichever was entered first", async () => {
  const calls = await provider({ audience: "api", oidc: { issuer: issuer.issuer }, client_secret: null, api: { audiences: ["shared"] } });
  const body = {
    tenant_id: "default",
    kind: "oidc",
    audience: "portal",
    name: "Clash",
    oidc: { issuer: issuer.issuer, client_id: "shared" },
  };
  const refused = await world.admin.request("POST", "/v1/admin/identity-providers", body);
  expect([refused.status, refused.body.fields?.[0]?.field]).toEqual([400, "oidc.client_id"]);
  const portal = await provider({});
  const patch = (client_id: string) =>
    world.admin.request("PATCH", `/v1/admin/identity-providers/${portal.id}`, { oidc: { issuer: issuer.issuer, client_id } });
  expect([(await patch("shared")).status, (await patch("apart")).status]).toEqual([400, 200]);
  await world.admin.request("DELETE", `/v1/admin/identity-providers/${calls.id}`);
  expect((await patch("shared")).status).toBe(200);
});

describe("claims in an ID token", () => {
  const ADA = { sub: "ada", preferred_username: "ada@example.com", email: "ada@example.com" };

  test("admit a person by email domain only if the provider does not mark the address as unverified", async () => {
    const bound = await provider({ allowed_domains: ["example.com"] });
    for (const doubt of [{ email_verified: false }, { email_verified: "false" }]) {
      const { status, html } = await signIn(bound, { ...ADA, ...doubt });
      expect([status, html.includes("not verified")]).toEqual([403, true]);
    }
    for (const email of ["a@evil.example, ada@example.com", "ada@evil.example@example.com", "@example.com"])
      expect((await signIn(bound, { ...ADA, email })).status).toBe(403);
    expect((await signIn(bound, { ...ADA, email_verified: true })).status).toBe(200);
  });

  test("with invalid characters are refused, left out or cleaned, and never cause an internal error", async () => {
    const open = await provider({});
    for (const [what, claims, status] of [
      ["a NUL in the subject", { sub: "a\0b" }, 403],
      ["half a character in the subject", { sub: "a\ud800" }, 403],
      ["a NUL in the name", { sub: "1", preferred_username: "one", name: "a\0b" }, 200],
      ["a NUL in the address", { sub: "2", preferred_username: "two", email: "a\0@example.com" }, 200],
      ["a name that turns the text around", { sub: "3", preferred_username: "\u202enimda" }, 403],
      ["a name with a space that nobody sees", { sub: "4", preferred_username: "ad\u200bmin" }, 403],
      ["a shown name that turns the text around", { sub: "6", preferred_username: "six", name: "\u202eadA\u0007" }, 200],
      ["a name without end", { sub: "5", preferred_username: "five", name: "n".repeat(50_000), email: "no address" }, 200],
    ] as [string, object, number][])
      expect([what, (await signIn(open, { preferred_username: "x", ...claims })).status]).toEqual([what, status]);
    const { users } = await world.admin.get("/v1/admin/end-users?search=five");
    expect([users[0].display_name.length, users[0].email]).toEqual([200, null]);
    expect((await world.admin.get("/v1/admin/end-users?search=six")).users[0].display_name).toBe("adA");
  });
});

describe("an existing account", () => {
  test("is signed in to by an identity that an administrator linked, and not by its username", async () => {
    const made = await provider({ create_accounts: false });
    const identities = `/v1/admin/identity-providers/${made.id}/identities`;
    const account = { tenant_id: "default", username: "old.hand", password: "long enough" };
    const { user } = await world.admin.post("/v1/admin/end-users", account);
    const claims = { sub: "hand-1", preferred_username: "old.hand" };
    expect((await signIn(made, claims)).status).toBe(403);
    const link = (body: object) => world.admin.request("POST", identities, { subject: "hand-1", ...body });
    const linked = await link({ end_user_id: user.id });
    expect([linked.status, linked.body]).toMatchObject([200, { subject: "hand-1", end_user_id: user.id, last_login: null }]);
    const answer = (await (await (await signIn(made, claims)).exchange()).json()) as any;
    expect(answer.user.id).toBe(user.id);
    const { identities: listed, total } = await world.admin.get(`${identities}?end_user_id=${user.id}`);
    expect([total, listed[0]]).toMatchObject([1, { username: "old.hand", last_login: expect.any(String) }]);

    const again = await link({ end_user_id: user.id });
    expect([again.status, again.body.existing_id]).toEqual([409, user.id]);
    for (const body of [{}, { admin_user_id: user.id }, { subject: "other", end_user_id: crypto.randomUUID() }, { subject: "a\0" }])
      expect([body, (await link(body)).status]).toEqual([body, 400]);
    const unlink = () => world.admin.request("DELETE", `${identities}?subject=hand-1`);
    expect([(await unlink()).status, (await unlink()).status]).toEqual([204, 404]);
    expect((await signIn(made, claims)).status).toBe(403);
  });

  test("of an owner can be linked by owners only, and no account to a provider of API tokens", async () => {
    const made = await provider({ audience: "admin", group_mappings: [{ group: "all", role: "viewer" }] });
    const account = (username: string, role: string) =>
      world.admin.post("/v1/admin/admin-users", { tenant_id: "default", username, password: "long enough", role });
    const [boss, peer] = [await account("linked-boss", "owner"), await account("linked-peer", "admin")];
    const admin = await signInAdmin(
      world.gateway.adminUrl,
      { username: "linked-peer", password: "long enough", tenant_id: "default" },
      "tenant",
    );
    const identities = `/v1/admin/identity-providers/${made.id}/identities`;
    const link = (by: AdminClient, id: string) => by.request("POST", identities, { subject: `s-${id}`, admin_user_id: id });
    expect([(await link(admin, boss.id)).status, (await link(admin, peer.id)).status]).toEqual([403, 200]);
    expect((await link(world.admin, boss.id)).status).toBe(200);
    expect((await admin.request("DELETE", `${identities}?subject=s-${boss.id}`)).status).toBe(403);
    const calls = await provider({ audience: "api", oidc: { issuer: issuer.issuer }, api: { audiences: ["calls"] } });
    const refused = await world.admin.request("POST", `/v1/admin/identity-providers/${calls.id}/identities`, { subject: "x" });
    expect(refused.status).toBe(409);
  });
});

test("a sign-in refused at the identity provider shows that nobody was signed in, without the provider's markup", async () => {
  const made = await provider({});
  const browser = signOnBrowser();
  const base = `${world.gateway.runtimeUrl}/v1/portal/auth/sso/${made.id}`;
  const back = async (error: string) => {
    const begun = await browser.go(`${base}/start`);
    const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state");
    return browser.go(`${base}/callback?error=${encodeURIComponent(error)}&state=${state}`);
  };
  expect(await (await back("access_denied")).text()).toContain("signed nobody in (access_denied)");
  expect(await (await back("<b>x</b>")).text()).not.toContain("x&lt;");
});

describe("a signed SAML assertion", () => {
  let acs: string;
  let unsolicited: any;

  beforeAll(async () => {
    unsolicited = await provider({
      kind: "saml",
      oidc: null,
      client_secret: null,
      saml: { entity_id: idp.entityId, sso_url: "https://idp.example/sso", certificates: [idp.certificate], allow_unsolicited: true },
    });
    acs = `${world.gateway.runtimeUrl}${unsolicited.redirect_uri}`;
  });

  const post = (SAMLResponse: string, browser: SignOnBrowser = signOnBrowser()) =>
    browser.go(acs, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ SAMLResponse }).toString(),
    });
  const answered = async (write: (assertion: string) => string) =>
    (await post(idp.answer({ acs, subject: "saml-ada", attributes: { mail: "x" }, write }))).status;
  const soon = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
  const STATEMENT = /<saml:AuthnStatement.*<\/saml:AuthnStatement>/s;

  test.each([
    ["has no AuthnStatement", (xml: string) => xml.replace(STATEMENT, "")],
    [
      "has a second AuthnStatement whose session is over",
      (xml: string) =>
        xml.replace("<saml:AttributeStatement>", `<saml:AuthnStatement SessionNotOnOrAfter="${soon(-60)}"/><saml:AttributeStatement>`),
    ],
    ["has an unknown condition", (xml: string) => xml.replace("<saml:AudienceRestriction>", "<saml:Condition/><saml:AudienceRestriction>")],
    ["has another SAML version", (xml: string) => xml.replace('Version="2.0"', 'Version="1.1"')],
    ["is issued tomorrow", (xml: string) => xml.replace(/IssueInstant="[^"]*"/, `IssueInstant="${soon(86_400)}"`)],
  ])("is refused if it %s", async (_what, write) => {
    expect(await answered(write)).toBe(403);
  });

  test("is accepted with conditions that are known", async () => {
    const known = "<saml:OneTimeUse/><saml:ProxyRestriction/><saml:AudienceRestriction>";
    expect(await answered((xml) => xml.replace("<saml:AudienceRestriction>", known))).toBe(200);
  });

  test("is answered with 429 after too many refused ones from one address", async () => {
    const nothing = Buffer.from("<a/>").toString("base64");
    let refused = 0;
    let last = await post(nothing);
    while (last.status === 403 && refused++ < 100) last = await post(nothing);
    expect(last.status).toBe(429);
    expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

test("SAML metadata requests from one address are limited, and answered with 429 beyond the limit", async () => {
  const { redirect_uri: acs } = await world.admin.post("/v1/admin/identity-providers", {
    tenant_id: "default",
    kind: "saml",
    audience: "admin",
    name: "Asked for",
    saml: { entity_id: idp.entityId, sso_url: "https://idp.example/sso", certificates: [idp.certificate] },
  });
  const address = `${world.gateway.adminUrl}${acs.replace(/acs$/, "metadata")}`;
  const statuses = new Map<number, number>();
  const ask = async () => {
    const response = await fetch(address);
    await response.text();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    return response;
  };
  expect((await ask()).status).toBe(200);
  for (let i = 0; i < 5; i++) await Promise.all(Array.from({ length: 140 }, ask));
  const last = await ask();
  expect([last.status, Number(last.headers.get("retry-after")) > 0]).toEqual([429, true]);
  expect([...statuses.keys()].filter((status) => ![200, 429, 502].includes(status))).toEqual([]);
});
