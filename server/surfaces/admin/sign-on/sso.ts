import { loginAnswer } from "@gatehouse/contracts/logins";
import { signOnCode, signOnOffers, signOnOfferQuery, signOnStartQuery, signOnTest } from "@gatehouse/contracts/sign-on";
import { adminOfSignOn } from "../../../directory/identity/accounts.ts";
import { identityProviders } from "../../../directory/identity/identity-providers.ts";
import { signedOnAdmin } from "../../../directory/people/logins.ts";
import { refuse, Refused, isRefusal } from "../../../kernel/errors.ts";
import { networkOf } from "../../../kernel/http/ip-address.ts";
import { readBody } from "../../../road/request/read-body.ts";
import { planeOrigin } from "../../../services/sign-on/plane-origin.ts";
import type { Arrived, Begun, SignOnPage } from "../../../services/sign-on/sign-on.ts";
import { bindingCookie, bindingOf, movingOnPage, notSignedInPage, testedPage } from "../../../wire/http/sign-on-page.ts";
import { PAGE_HEADERS } from "../../../wire/http/html-page.ts";
import { loginAnswerOf } from "./logins.ts";
import { type AdminCall, type AdminOperation, operation } from "../operation.ts";
import { idOf } from "../resource.ts";

export const CONSOLE_SSO = "/v1/admin-users/sso";
const common = { tag: "Logins", reach: "none", access: "anyone" } as const;
const FORM_BYTES = 300_000;
const PAGE = { status: 200, about: "A page that moves on", media: "text/html" } as const;

type SsoCall = AdminCall<unknown, unknown>;

export const consoleSignOnPage = ({ request, services }: Pick<SsoCall, "request" | "services">): SignOnPage => ({
  audience: "admin",
  base: `${planeOrigin(request, services.adminPublicUrl)}${CONSOLE_SSO}`,
});

const begun = (page: SignOnPage, { location, binding, kind }: Begun): Response =>
  new Response(null, {
    status: 302,
    headers: {
      location,
      "set-cookie": bindingCookie(page.base, kind, binding),
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    },
  });

async function onPage(call: SsoCall, work: (page: SignOnPage, binding: string | null) => Promise<Response>): Promise<Response> {
  const page = consoleSignOnPage(call);
  try {
    return await work(page, bindingOf(page.base, call.request.headers.get("cookie")));
  } catch (error) {
    if (!(error instanceof Refused) || error.refusal.code === "not_found" || error.refusal.code === "too_many_logins") throw error;
    return new Response(notSignedInPage(error.refusal.message, "/console/"), { status: 403, headers: PAGE_HEADERS });
  }
}

async function arrived(call: SsoCall, page: SignOnPage, binding: string | null, how: Arrived): Promise<Response> {
  const { signOn } = call.services;
  if (how.kind === "again") return begun(page, how.begun);
  const { place, claims } = how;
  if (how.kind === "tested") {
    const { headers, body } = testedPage(claims, signOn.mapping(place, claims));
    return new Response(body, { headers });
  }
  const admin = await call.write((write) => adminOfSignOn(write, place, claims));
  if (admin instanceof Refused) throw admin;
  const bound = binding ?? crypto.randomUUID();
  const { headers, body } = movingOnPage(how.returnTo, await signOn.codeFor(how, admin, bound));
  return new Response(body, {
    headers: { ...headers, ...(binding === null ? { "set-cookie": bindingCookie(page.base, place.kind, bound) } : {}) },
  });
}

export async function formOf({ request, origin }: Pick<SsoCall, "request" | "origin">): Promise<URLSearchParams> {
  const read = await readBody(request, FORM_BYTES, { place: networkOf(origin.address) });
  if (isRefusal(read)) throw new Refused(read);
  return new URLSearchParams(new TextDecoder().decode(read));
}

export const ssoOperations: readonly AdminOperation[] = [
  operation({
    ...common,
    method: "GET",
    path: CONSOLE_SSO,
    summary: "What the sign-in page of a tenant's console offers",
    query: signOnOfferQuery,
    answer: { status: 200, about: "The identity providers", schema: signOnOffers },
    async run(call) {
      const tenantId = call.query.tenant_id ?? call.request.headers.get("x-tenant-id") ?? "default";
      const providers = await call.services.signOn.offers(tenantId, "admin");
      return {
        providers: providers.map((one) => ({ ...one, start: `${CONSOLE_SSO}/${one.id}/start` })),
        // Without a provider to offer, a tenant is answered like one that does not exist, so that strangers cannot find tenants.
        local_passwords: providers.length === 0 || (await call.services.signOn.takesPasswords(tenantId)),
      };
    },
  }),
  operation({
    ...common,
    method: "POST",
    path: `${CONSOLE_SSO}/exchange`,
    summary: "Exchange the code of a sign-in for a token",
    description: "Once, within a minute, and in the browser that signed in.",
    body: signOnCode,
    answer: { status: 200, about: "A token, and who is signed in; or that a code is owed", schema: loginAnswer },
    async run(call) {
      const page = consoleSignOnPage(call);
      const { accountId, generation, ...word } = await call.services.signOn.redeem(
        "admin",
        call.body.code,
        bindingOf(page.base, call.request.headers.get("cookie")),
      );
      return loginAnswerOf(await signedOnAdmin(call.services.logins, accountId, generation, word));
    },
  }),
  operation({
    ...common,
    method: "GET",
    path: `${CONSOLE_SSO}/{id}/start`,
    summary: "Begin to sign in by an identity provider",
    query: signOnStartQuery,
    answer: { status: 302, about: "To the provider" },
    run: (call) =>
      onPage(call, async (page, binding) => {
        const signOnRequest = {
          returnTo: call.query.return_to ?? null,
          test: call.query.test ?? null,
          address: call.origin.address,
          binding,
        };
        return begun(page, await call.services.signOn.begin(page, idOf(call), signOnRequest));
      }),
  }),
  operation({
    ...common,
    method: "GET",
    path: `${CONSOLE_SSO}/{id}/callback`,
    summary: "Come back from an OpenID Connect provider",
    answer: PAGE,
    run: (call) =>
      onPage(call, async (page, binding) =>
        arrived(call, page, binding, await call.services.signOn.arriveByOidc(page, idOf(call), new URL(call.request.url).search, binding)),
      ),
  }),
  operation({
    ...common,
    method: "POST",
    path: `${CONSOLE_SSO}/{id}/acs`,
    summary: "Come back from a SAML provider",
    answer: PAGE,
    run: (call) =>
      onPage(call, async (page, binding) =>
        arrived(
          call,
          page,
          binding,
          await call.services.signOn.arriveBySaml(page, idOf(call), await formOf(call), { binding, address: call.origin.address }),
        ),
      ),
  }),
  operation({
    ...common,
    method: "GET",
    path: `${CONSOLE_SSO}/{id}/metadata`,
    summary: "SAML metadata of the console",
    answer: { status: 200, about: "Metadata", media: "application/samlmetadata+xml" },
    run: async (call) =>
      new Response(await call.services.signOn.metadata(consoleSignOnPage(call), idOf(call), call.origin.address), {
        headers: { "content-type": "application/samlmetadata+xml", "cache-control": "no-store" },
      }),
  }),
  operation({
    tag: "Identity providers",
    access: "users:write",
    reach: "one",
    subject: "identity_providers",
    method: "POST",
    path: "/v1/admin/identity-providers/{id}/test",
    summary: "Try a sign-in out",
    description: "The final page shows the claims and what they would become. Nobody is signed in and nothing changes.",
    answer: { status: 200, about: "Where to begin", schema: signOnTest },
    async run(call) {
      const provider = await identityProviders.get(call.services.directory, call.tenantId, idOf(call));
      if (provider.redirect_uri === null)
        throw new Refused(refuse("not_found", "Nobody signs in by this provider: its tokens are for calls."));
      const place = provider.redirect_uri.slice(0, provider.redirect_uri.lastIndexOf("/"));
      const start = `${place}/start?test=${encodeURIComponent(call.services.signOn.testTicket(provider))}`;
      const own = planeOrigin(call.request, call.services.adminPublicUrl);
      const origin = provider.audience === "admin" ? own : portalOrigin(call.services.gatewayOrigins, own);
      return { start, address: origin === undefined ? null : `${origin}${start}` };
    },
  }),
];

/** Of several names for the same machine, the one the browser already uses, because a cookie set for another would not be sent. */
function portalOrigin(origins: readonly string[], own: string): string | undefined {
  const { hostname } = new URL(own);
  return origins.find((origin) => new URL(origin).hostname === hostname) ?? origins[0];
}
