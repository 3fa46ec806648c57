import { tokenAnswer } from "../../directory/people/portal/portal-logins.ts";
import { portalSession } from "@gatehouse/contracts/portal-answers";
import { endPortalSessions } from "../../directory/people/portal/end-portal-sessions.ts";
import { beginPortalSession, renewPortalSession } from "../../directory/people/portal/portal-sessions.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { ownAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import { comesFromOwnPage, sessionCookieCleared, sessionCookieOf, sessionCookieSet } from "../../wire/http/session-cookie.ts";
import { noteUser } from "./auth.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";
import type { PortalServices } from "./portal-services.ts";

const PATH = "/v1/portal/auth/session";
const COOKIE = { name: "gw_portal_session", path: PATH };
const HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

const cookieRequest = (request: Call, { publicUrl }: Pick<PortalServices, "publicUrl">) => ({ request, publicUrl });

function onlyOwnPages(call: Call): void {
  if (!comesFromOwnPage(call.headers)) throw new Refused(refuse("forbidden", "Sessions are for the pages of this gateway."));
}

/** Keeps the portal's pages signed in: a cookie that no script can read yields short-lived tokens. */
export const sessionRoutes: readonly PortalRoute[] = [
  portalOperation({
    authenticates: true,
    method: "POST",
    path: PATH,
    name: "session_begin",
    summary: "Stay signed in, for the pages of this gateway",
    answer: { status: 204 },
    async run({ services, call, user }) {
      onlyOwnPages(call);
      if (call.token === null) return refuse("unauthenticated");
      const value = await beginPortalSession(services.logins, user, call.token);
      return ownAnswer(204, { ...HEADERS, "set-cookie": sessionCookieSet(COOKIE, value, cookieRequest(call, services)) });
    },
  }),
  portalOperation({
    admits: "anyone",
    authenticates: true,
    method: "POST",
    path: `${PATH}/renew`,
    name: "session_renew",
    summary: "The next token of a page's session; 204 if nobody is signed in",
    answer: { status: 200, schema: portalSession },
    async run({ services, call }) {
      onlyOwnPages(call);
      const given = sessionCookieOf(COOKIE, cookieRequest(call, services));
      const renewed = await renewPortalSession(services.logins, given);
      // Nobody is signed in, which is no error when opening a page.
      if (renewed === null)
        return ownAnswer(204, {
          ...HEADERS,
          ...(given === null ? {} : { "set-cookie": sessionCookieCleared(COOKIE, cookieRequest(call, services)) }),
        });
      call.row.tenant_id = renewed.user.tenant_id;
      noteUser(call, renewed.user);
      const cookie: Record<string, string> =
        renewed.cookie === null ? {} : { "set-cookie": sessionCookieSet(COOKIE, renewed.cookie, cookieRequest(call, services)) };
      return ownAnswer(200, { ...HEADERS, ...cookie, "content-type": "application/json" }, JSON.stringify(tokenAnswer(renewed)));
    },
  }),
  portalOperation({
    authenticates: true,
    method: "DELETE",
    path: PATH,
    name: "session_end",
    summary: "Sign out everywhere",
    answer: { status: 204 },
    async run({ services, call, who, origin }) {
      onlyOwnPages(call);
      await endPortalSessions(services.logins, who, origin);
      return ownAnswer(204, { ...HEADERS, "set-cookie": sessionCookieCleared(COOKIE, cookieRequest(call, services)) });
    },
  }),
];
