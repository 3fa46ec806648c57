import { portalSession } from "@gatehouse/contracts/portal-answers";
import { signOnCode, signOnOfferQuery, signOnOffers, signOnStartQuery } from "@gatehouse/contracts/sign-on";
import { signedOnUser, tokenAnswer } from "../../directory/people/portal/portal-logins.ts";
import { Refused } from "../../kernel/errors.ts";
import { ownAnswer, type WholeAnswer } from "../../road/answer.ts";
import { planeOrigin } from "../../services/sign-on/plane-origin.ts";
import type { SignOnPage } from "../../services/sign-on/sign-on.ts";
import { bindingOf, notSignedInPage } from "../../wire/http/sign-on-page.ts";
import { PAGE_HEADERS } from "../../wire/http/html-page.ts";
import { portalAnswer, portalOperation, type PortalRoute } from "./portal-operation.ts";
import { type PortalSsoRequest, portalSignOnBegun, portalArrival } from "./sso-arrival.ts";

export const PORTAL_SSO = "/v1/portal/auth/sso";
const common = { admits: "anyone", authenticates: true } as const;
const FORM_BYTES = 300_000;

export function portalSignOnPage({ call, services }: Pick<PortalSsoRequest, "call" | "services">): SignOnPage {
  return { audience: "portal", base: `${planeOrigin(call, services.publicUrl)}${PORTAL_SSO}` };
}

/** The request comes from a browser, so errors are shown on a page. */
async function onPage(request: PortalSsoRequest, work: () => Promise<WholeAnswer>): Promise<WholeAnswer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { refusal } = error;
    request.call.row.error_message = refusal.message;
    if (refusal.code === "not_found" || refusal.code === "too_many_logins") throw error;
    return { ...ownAnswer(403, PAGE_HEADERS, notSignedInPage(refusal.message, "/portal/")), failure: refusal.message };
  }
}

export const ssoRoutes: readonly PortalRoute[] = [
  portalOperation({
    admits: "anyone",
    method: "GET",
    path: PORTAL_SSO,
    name: "sso_offers",
    summary: "What the sign-in page of a tenant offers",
    answer: { status: 200, schema: signOnOffers },
    query: signOnOfferQuery,
    async run({ services, call, query }) {
      const tenant = query.tenant_id === undefined ? call.tenant : await services.snapshots.tenant(query.tenant_id);
      if (tenant === null || !tenant.enabled) return { providers: [], local_passwords: true };
      const providers = await services.signOn.offers(tenant.id, "portal");
      return {
        providers: providers.map((one) => ({ ...one, start: `${PORTAL_SSO}/${one.id}/start` })),
        // Without a provider to offer, a tenant is answered like one that does not exist, so that strangers cannot find tenants.
        local_passwords: providers.length === 0 || (await services.signOn.takesPasswords(tenant.id)),
      };
    },
  }),
  portalOperation({
    ...common,
    method: "POST",
    path: `${PORTAL_SSO}/exchange`,
    name: "sso_exchange",
    summary: "Exchanges the code of a sign-in for a token",
    answer: { status: 200, schema: portalSession },
    body: signOnCode,
    async run(request) {
      const { services, call, body } = request;
      const page = portalSignOnPage(request);
      const { accountId, generation, tenantId, sessionEndsAt } = await services.signOn.redeem(
        "portal",
        body.code,
        bindingOf(page.base, call.headers.get("cookie")),
      );
      const session = await signedOnUser(services.logins, tenantId, { id: accountId, generation }, sessionEndsAt);
      const { user } = session;
      Object.assign(call.row, {
        tenant_id: tenantId,
        gateway_user_id: user.id,
        gateway_user_username: user.username,
        subject_kind: "user",
        subject_id: user.id,
      });
      return portalAnswer(200, tokenAnswer(session));
    },
  }),
  portalOperation({
    ...common,
    method: "GET",
    path: `${PORTAL_SSO}/:id/start`,
    name: "sso_start",
    summary: "Begins to sign in by an identity provider",
    answer: { status: 302 },
    query: signOnStartQuery,
    run: (request) =>
      onPage(request, async () => {
        const { services, call, params, query } = request;
        const page = portalSignOnPage(request);
        const binding = bindingOf(page.base, call.headers.get("cookie"));
        const signOnRequest = { returnTo: query.return_to ?? null, test: query.test ?? null, address: call.ip, binding };
        const how = await services.signOn.begin(page, params.id ?? "", signOnRequest);
        call.row.tenant_id = how.tenantId;
        return portalSignOnBegun(page, how);
      }),
  }),
  portalOperation({
    ...common,
    method: "GET",
    path: `${PORTAL_SSO}/:id/callback`,
    name: "sso_callback",
    summary: "Comes back from an OpenID Connect provider",
    answer: { status: 200, media: "text/html" },
    run: (request) =>
      onPage(request, async () => {
        const { services, call, params } = request;
        const page = portalSignOnPage(request);
        const binding = bindingOf(page.base, call.headers.get("cookie"));
        return portalArrival(
          request,
          page,
          binding,
          await services.signOn.arriveByOidc(page, params.id ?? "", new URL(call.url).search, binding),
        );
      }),
  }),
  portalOperation({
    ...common,
    method: "POST",
    path: `${PORTAL_SSO}/:id/acs`,
    name: "sso_acs",
    summary: "Comes back from a SAML provider",
    answer: { status: 200, media: "text/html" },
    form: true,
    maxBodyBytes: FORM_BYTES,
    run: (request) =>
      onPage(request, async () => {
        const { services, call, params, bytes } = request;
        const page = portalSignOnPage(request);
        const binding = bindingOf(page.base, call.headers.get("cookie"));
        const form = new URLSearchParams(new TextDecoder().decode(bytes));
        return portalArrival(
          request,
          page,
          binding,
          await services.signOn.arriveBySaml(page, params.id ?? "", form, { binding, address: call.ip }),
        );
      }),
  }),
  portalOperation({
    admits: "anyone",
    method: "GET",
    path: `${PORTAL_SSO}/:id/metadata`,
    name: "sso_metadata",
    summary: "SAML metadata of the portal",
    answer: { status: 200, media: "application/samlmetadata+xml" },
    async run(request) {
      const { services, call, params } = request;
      const xml = await services.signOn.metadata(portalSignOnPage(request), params.id ?? "", call.ip);
      return ownAnswer(200, { "content-type": "application/samlmetadata+xml", "cache-control": "no-store" }, xml);
    },
  }),
];
