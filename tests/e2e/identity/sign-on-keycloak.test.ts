import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { formOn, keycloakRealm, PERSONS_PASSWORD, type Keycloak } from "../../support/identity/keycloak.ts";
import { portalClient } from "../../support/worlds/portal.ts";
import { movedOn, signOnBrowser, type SignOnBrowser } from "../../support/identity/sign-on-browser.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Signing in and out through a Keycloak that knows nothing about this gateway except what an administrator enters. */

const URL_OF_KEYCLOAK = process.env.KEYCLOAK_URL;

if (URL_OF_KEYCLOAK === undefined) console.log("Keycloak is left out: KEYCLOAK_URL names none (see .ci/with-keycloak).");
else
  describe("Keycloak", () => {
    let world: World;
    let keycloak: Keycloak;
    let groupId: string;
    let ada: string;

    beforeAll(async () => {
      world = await startWorld();
      keycloak = await keycloakRealm(URL_OF_KEYCLOAK);
      groupId = (await world.admin.post("/v1/admin/end-user-groups", { tenant_id: "default", name: "engineers" })).id;
      ada = await keycloak.person("ada", ["eng", "all"]);
      await keycloak.person("bob", ["all"]);
      await keycloak.person("kim", ["eng"]);
    });
    afterAll(async () => {
      await keycloak.remove();
      await world.end();
    });

    const sso = () => `${world.gateway.runtimeUrl}/v1/portal/auth/sso`;
    const post = (browser: SignOnBrowser, address: string, fields: Record<string, string>) =>
      browser.go(address, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(fields).toString(),
      });

    /** Follows the portal's sign-in to Keycloak's form and submits it; resolves with Keycloak's answer. */
    async function givePassword(browser: SignOnBrowser, providerId: string, username: string): Promise<Response> {
      const page = await (await browser.follow(`${sso()}/${providerId}/start`)).text();
      const { action } = formOn(page);
      return post(browser, action, { username, password: PERSONS_PASSWORD });
    }

    async function redeemed(browser: SignOnBrowser, html: string) {
      const response = await browser.go(`${sso()}/exchange`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code: movedOn(html)?.code }),
      });
      return (await response.json()) as any;
    }

    test("signs people in by OpenID Connect with their groups, and out by back channel and from the gateway", async () => {
      const provider = await world.admin.post("/v1/admin/identity-providers", {
        tenant_id: "default",
        kind: "oidc",
        audience: "portal",
        name: "Keycloak",
        create_accounts: true,
        oidc: { issuer: keycloak.issuer, client_id: "gatehouse", sign_out: true },
        client_secret: "the client's secret",
        required_group: "/all",
        group_mappings: [{ group: "/eng", end_user_group_id: groupId }],
      });
      await keycloak.client({
        clientId: "gatehouse",
        secret: "the client's secret",
        redirectUris: [`${world.gateway.runtimeUrl}${provider.redirect_uri}`],
        attributes: {
          "backchannel.logout.url": `${sso()}/${provider.id}/backchannel-logout`,
          "backchannel.logout.session.required": "true",
          "post.logout.redirect.uris": `${world.gateway.runtimeUrl}/portal/`,
          "pkce.code.challenge.method": "S256",
        },
        protocolMappers: [
          {
            name: "groups",
            protocol: "openid-connect",
            protocolMapper: "oidc-group-membership-mapper",
            config: { "claim.name": "groups", "full.path": "true", "id.token.claim": "true" },
          },
        ],
      });
      const browser = signOnBrowser();
      const back = (await givePassword(browser, provider.id, "ada")).headers.get("location") ?? "";
      const answer = await redeemed(browser, await (await browser.follow(back)).text());
      expect(answer.user).toMatchObject({ username: "ada", email: "ada@example.com" });
      const members = await world.admin.get(`/v1/admin/end-user-groups/${groupId}/members`);
      expect(members.members).toMatchObject([{ username: "ada", sources: [`sso-${provider.id}`] }]);
      const profile = () => portalClient(world.gateway.runtimeUrl, answer.access_token).request("GET", "/auth/profile");
      expect((await profile()).status).toBe(200);
      await keycloak.logOut(ada);
      expect((await profile()).status).toBe(401);

      const other = signOnBrowser();
      const backAgain = (await givePassword(other, provider.id, "bob")).headers.get("location") ?? "";
      const bo = await redeemed(other, await (await other.follow(backAgain)).text());
      const out = await other.go(`${sso()}/sign-out`, { method: "POST", headers: { authorization: `Bearer ${bo.access_token}` } });
      const { continue_at: at } = (await out.json()) as { continue_at: string };
      const ended = await other.go(at);
      expect([ended.status, ended.headers.get("location")]).toEqual([302, `${world.gateway.runtimeUrl}/portal/`]);
      // Keycloak has no session any more and asks for a password again.
      expect(formOn(await (await other.follow(`${sso()}/${provider.id}/start`)).text()).fields).toHaveProperty("password");
    });

    test("signs people in by SAML, and the same assertion is accepted only once", async () => {
      const provider = await world.admin.post("/v1/admin/identity-providers", {
        tenant_id: "default",
        kind: "saml",
        audience: "portal",
        name: "Keycloak by SAML",
        create_accounts: true,
        attributes: { username: "username", email: "email", groups: "groups" },
        group_mappings: [{ group: "/eng", end_user_group_id: groupId }],
        saml: {
          entity_id: keycloak.issuer,
          sso_url: `${keycloak.issuer}/protocol/saml`,
          certificates: [await keycloak.certificate()],
          response_signed: true,
        },
      });
      const acs = `${world.gateway.runtimeUrl}${provider.redirect_uri}`;
      const attribute = (name: string, property: string) => ({
        name,
        protocol: "saml",
        protocolMapper: "saml-user-property-mapper",
        config: { "user.attribute": property, "attribute.name": name, "attribute.nameformat": "Basic" },
      });
      await keycloak.client({
        clientId: acs.replace(/acs$/, "metadata"),
        protocol: "saml",
        redirectUris: [acs],
        attributes: {
          "saml.assertion.signature": "true",
          "saml.server.signature": "true",
          "saml.client.signature": "false",
          "saml.authnstatement": "true",
          "saml.force.post.binding": "true",
          "saml.signature.algorithm": "RSA_SHA256",
          saml_name_id_format: "persistent",
          saml_force_name_id_format: "true",
          saml_assertion_consumer_url_post: acs,
          "saml.assertion.lifespan": "60",
        },
        protocolMappers: [
          attribute("username", "username"),
          attribute("email", "email"),
          {
            name: "groups",
            protocol: "saml",
            protocolMapper: "saml-group-membership-mapper",
            config: { "attribute.name": "groups", single: "true", "full.path": "true", "attribute.nameformat": "Basic" },
          },
        ],
      });
      const browser = signOnBrowser();
      const page = await (await givePassword(browser, provider.id, "kim")).text();
      const { action, fields } = formOn(page);
      expect(action).toBe(acs);
      const arrived = await post(browser, action, fields);
      const html = await arrived.text();
      expect([arrived.status, html.includes("You were not signed in")]).toEqual([200, false]);
      const answer = await redeemed(browser, html);
      expect(answer.user).toMatchObject({ email: "kim@example.com" });
      expect(answer.expires_in).toBeLessThanOrEqual(1800);
      // Sending the same answer a second time is refused.
      expect((await post(browser, action, fields)).status).toBe(403);
    });
  });
