import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { movedOn, signOnBrowser, type SignOnBrowser } from "../../support/identity/sign-on-browser.ts";
import { samlProvider, type SamlProviderFixture, type SamlWords } from "../../support/identity/saml-provider.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Signing in with SAML: what an honest provider sends, and forged variants of it. */

let world: World;
let idp: SamlProviderFixture;
let provider: any;
let acs: string;
let start: string;

beforeAll(async () => {
  world = await startWorld();
  idp = await samlProvider();
  provider = await world.admin.post("/v1/admin/identity-providers", {
    tenant_id: "default",
    kind: "saml",
    audience: "portal",
    name: "Company",
    create_accounts: true,
    attributes: { username: "mail", email: "mail", display_name: "name", groups: "groups" },
    saml: { entity_id: idp.entityId, sso_url: "https://idp.example/sso", certificates: [idp.certificate] },
  });
  acs = `${world.gateway.runtimeUrl}${provider.redirect_uri}`;
  start = acs.replace(/acs$/, "start");
});
afterAll(() => world.end());

const ADA = { subject: "ada-1", attributes: { mail: "ada@example.com", name: "Ada King", groups: ["eng", "all"] } };

async function begun(browser: SignOnBrowser) {
  const response = await browser.go(`${start}?return_to=/portal/`);
  return idp.request(response.headers.get("location") ?? "");
}

const post = (browser: SignOnBrowser, SAMLResponse: string, RelayState: string) =>
  browser.go(acs, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ SAMLResponse, RelayState }).toString(),
  });

/** Signs in with an honest response changed by `make`. */
async function signIn(words: Partial<SamlWords> = {}, make: (xml: string) => string = (xml) => xml) {
  const browser = signOnBrowser();
  const { id, relayState } = await begun(browser);
  const response = await post(browser, idp.encoded(make(idp.response({ acs, inResponseTo: id, ...ADA, ...words }))), relayState);
  return { status: response.status, html: await response.text(), browser, relayState, id };
}

test("a person signed in by SAML gets an account, and is the same person at the next sign-in", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 2; i++) {
    const { status, html, browser } = await signIn();
    expect([status, movedOn(html)?.to]).toEqual([200, "/portal/"]);
    const answer = await browser.go(acs.replace(/[^/]+\/acs$/, "exchange"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code: movedOn(html)?.code }),
    });
    const { user } = (await answer.json()) as any;
    expect(user).toMatchObject({ username: "ada@example.com", display_name: "Ada King" });
    ids.push(user.id);
  }
  expect(ids[0]).toBe(ids[1] as string);
});

test("the authentication request and metadata name this service, and demand no authentication context", async () => {
  const { xml } = await begun(signOnBrowser());
  expect(xml).toContain(`AssertionConsumerServiceURL="${acs}"`);
  expect(xml).not.toContain("RequestedAuthnContext");
  const metadata = await (await fetch(acs.replace(/acs$/, "metadata"))).text();
  expect(metadata).toContain(`Location="${acs}"`);
  expect(metadata).toContain(`entityID="${acs.replace(/acs$/, "metadata")}"`);
});

describe("a SAML response is refused", () => {
  const EMAIL = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress";
  const WORDS: Record<string, Partial<SamlWords>> = {
    "an unsigned assertion": { sign: "none" },
    "an assertion signed by another key": { sign: "foreign" },
    "a SHA-1 signature": { sign: "sha1" },
    "another audience": { audience: "https://other.example" },
    "another issuer of the assertion": { issuer: "https://other.example" },
    "another issuer of the response": { responseIssuer: "https://other.example" },
    "another recipient": { recipient: "https://other.example/acs" },
    "another destination": { destination: "https://other.example/acs" },
    "an expired subject confirmation": { confirmedFor: -120 },
    "expired conditions": { validFor: -120 },
    "an assertion that is too old": { issuedAgo: 1200 },
    "a subject confirmation other than bearer": { confirmation: "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key" },
    "an InResponseTo of another request": { inResponseTo: "_another" },
    "no InResponseTo": { inResponseTo: null },
    "a failure status and a valid assertion": { status: "urn:oasis:names:tc:SAML:2.0:status:Responder" },
    "an email address, which may be reassigned, as the subject": { format: EMAIL },
  };
  test.each(Object.entries(WORDS))("with %s", async (_what, words) => {
    const { status, html } = await signIn(words);
    expect([status, movedOn(html)]).toEqual([403, null]);
  });

  const forged = (xml: string) =>
    /<saml:Assertion.*<\/saml:Assertion>/s
      .exec(xml)?.[0]
      .replace(/<Signature.*<\/Signature>/s, "")
      .replace("ada-1", "admin")
      .replace(/ID="_/, 'ID="_forged') ?? "";
  const CHANGED: Record<string, (xml: string) => string> = {
    "another subject under the signature": (xml) => xml.replace("ada-1", "admin"),
    "another attribute under the signature": (xml) => xml.replace("ada@example.com", "admin@example.com"),
    "a stripped signature": (xml) => xml.replace(/<Signature.*<\/Signature>/s, ""),
    "a forged assertion before the signed one": (xml) => xml.replace("<saml:Assertion", `${forged(xml)}<saml:Assertion`),
    "a forged assertion after the signed one": (xml) => xml.replace("</samlp:Response>", `${forged(xml)}</samlp:Response>`),
    "a forged assertion around the signed one": (xml) => {
      const signed = /<saml:Assertion.*<\/saml:Assertion>/s.exec(xml)?.[0] ?? "";
      return xml.replace(signed, forged(xml).replace("</saml:Assertion>", `<saml:Advice>${signed}</saml:Advice></saml:Assertion>`));
    },
    "the signed assertion hidden in extensions": (xml) => {
      const signed = /<saml:Assertion.*<\/saml:Assertion>/s.exec(xml)?.[0] ?? "";
      return xml.replace(signed, forged(xml)).replace("<samlp:Status>", `<samlp:Extensions>${signed}</samlp:Extensions><samlp:Status>`);
    },
    "a comment in the subject": (xml) => xml.replace("ada-1", "ada<!-- -->-1"),
    "a document type declaration": (xml) => `<!DOCTYPE x [<!ENTITY e "admin">]>${xml}`,
    "a processing instruction": (xml) => xml.replace("ada-1", "<?x y?>ada-1"),
    "a body that is not XML": () => "hello",
  };
  test.each(Object.entries(CHANGED))("with %s", async (_what, change) => {
    const { status, html } = await signIn({}, change);
    expect([status, movedOn(html)]).toEqual([403, null]);
  });

  test("when used a second time or in another browser", async () => {
    const one = signOnBrowser();
    const { id, relayState } = await begun(one);
    const answer = idp.answer({ acs, inResponseTo: id, ...ADA });
    const victim = signOnBrowser();
    expect((await post(victim, answer, relayState)).status).toBe(403);
    const other = await begun(victim);
    expect((await post(victim, answer, relayState)).status).toBe(403);
    expect((await post(victim, answer, other.relayState)).status).toBe(403);
    expect((await post(one, answer, relayState)).status).toBe(200);
    expect((await post(one, answer, relayState)).status).toBe(403);
  });

  test("when used a second time, also where unsolicited responses are allowed", async () => {
    await world.admin.request("PATCH", `/v1/admin/identity-providers/${provider.id}`, {
      saml: { ...provider.saml, allow_unsolicited: true },
    });
    const answer = idp.answer({ acs, ...ADA });
    expect((await post(signOnBrowser(), answer, "")).status).toBe(200);
    expect((await post(signOnBrowser(), answer, "")).status).toBe(403);
    expect((await post(signOnBrowser(), idp.answer({ acs, ...ADA, inResponseTo: "_x" }), "")).status).toBe(403);
    await world.admin.request("PATCH", `/v1/admin/identity-providers/${provider.id}`, { saml: provider.saml });
  });
});

test("a SAML response of 2 MB or with many elements costs little CPU time", async () => {
  await signIn();
  for (const xml of [
    `<a>${"<b/>".repeat(200_000)}${"x".repeat(1_200_000)}</a>`,
    `<a>${"<b/>".repeat(20_000)}</a>`,
    `<a>${"<b>".repeat(900)}`,
  ]) {
    const browser = signOnBrowser();
    const { relayState } = await begun(browser);
    const before = world.gateway.cpuMs();
    const response = await post(browser, idp.encoded(xml), relayState);
    expect([403, 413]).toContain(response.status);
    expect(world.gateway.cpuMs() - before).toBeLessThan(500);
  }
});
