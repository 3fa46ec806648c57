import { signOnEnd } from "@gatehouse/contracts/sign-on";
import { userActor } from "../../directory/people/portal/portal-logins.ts";
import { Refused } from "../../kernel/errors.ts";
import { ownAnswer } from "../../road/answer.ts";
import { notSignedOut, SIGNED_OUT } from "../../wire/http/back-channel-logout.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";
import { portalSignOnPage, PORTAL_SSO } from "./sso.ts";

/** Single sign-out, initiated by the provider or by our page. */
export const ssoSignOutRoutes: readonly PortalRoute[] = [
  portalOperation({
    admits: "anyone",
    authenticates: true,
    method: "POST",
    path: `${PORTAL_SSO}/:id/backchannel-logout`,
    name: "sso_backchannel_logout",
    summary: "An OpenID Connect provider signs somebody out",
    answer: { status: 200 },
    form: true,
    async run(request) {
      const { services, call, params, bytes, origin } = request;
      const token = new URLSearchParams(new TextDecoder().decode(bytes)).get("logout_token");
      const actor = { ...userActor({ id: "" }, origin), id: null };
      try {
        const out = await services.signOn.signedOutByProvider(portalSignOnPage(request), params.id ?? "", token, actor);
        call.row.tenant_id = out.place.tenantId;
        for (const id of out.endUserIds) services.users.drop(out.place.tenantId, id);
        const [only, another] = out.endUserIds;
        if (only !== undefined && another === undefined) call.row.gateway_user_id = only;
        return ownAnswer(SIGNED_OUT.status, SIGNED_OUT.headers, SIGNED_OUT.body);
      } catch (error) {
        if (!(error instanceof Refused) || error.refusal.code !== "sign_on_refused") throw error;
        const { status, headers, body } = notSignedOut(error.refusal.message);
        return { ...ownAnswer(status, headers, body), failure: error.refusal.message };
      }
    },
  }),
  portalOperation({
    method: "POST",
    path: `${PORTAL_SSO}/sign-out`,
    name: "sso_sign_out",
    summary: "Where to sign out at the identity provider as well, asked before the session ends here",
    answer: { status: 200, schema: signOnEnd },
    async run(request) {
      const { services, who } = request;
      const page = portalSignOnPage(request);
      return { continue_at: await services.signOn.signOutAddress(page, who.userId, new URL("/portal/", page.base).href) };
    },
  }),
];
