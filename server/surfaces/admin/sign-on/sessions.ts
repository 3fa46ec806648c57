import { accessToken, adminCode, adminFactorBegin, adminFactorSetup, adminFactorState as statusSchema } from "@gatehouse/contracts/logins";
import {
  adminFactorStatus,
  beginAdminFactor,
  confirmAdminFactor,
  disableAdminFactor,
} from "../../../directory/people/admin-second-factor.ts";
import { beginAdminSession, renewAdminSession } from "../../../directory/people/admin-sessions.ts";
import { endAdminSessions } from "../../../directory/people/end-admin-sessions.ts";
import { refuse, Refused } from "../../../kernel/errors.ts";
import { comesFromOwnPage, sessionCookieCleared, sessionCookieOf, sessionCookieSet } from "../../../wire/http/session-cookie.ts";
import { bearerOf } from "../caller.ts";
import { signInAnswer } from "./logins.ts";
import { type AdminCall, operation, type AdminOperation } from "../operation.ts";

const SESSION = "/v1/admin-users/session";
const FACTOR = "/v1/admin-users/2fa";
const COOKIE = { name: "gw_console_session", path: SESSION };
const common = { tag: "Logins", reach: "none" } as const;

const cookieRequest = ({ request, services }: Pick<AdminCall<unknown, unknown>, "request" | "services">) => ({
  request,
  publicUrl: services.adminPublicUrl,
});

function onlyOwnPages({ headers }: Request): void {
  if (!comesFromOwnPage(headers)) throw new Refused(refuse("forbidden", "Sessions are for the pages of this gateway."));
}

function empty(cookie: string | null): Response {
  return new Response(null, {
    status: 204,
    headers: { "cache-control": "no-store", ...(cookie === null ? {} : { "set-cookie": cookie }) },
  });
}

/** Keeps the console signed in: a cookie that no script can read yields short-lived tokens. */
export const sessionOperations: readonly AdminOperation[] = [
  operation({
    ...common,
    access: "signed_in",
    method: "POST",
    path: SESSION,
    summary: "Stay signed in, for the pages of this gateway",
    description:
      "Takes a token issued by a sign-in (not a renewal) within the last 5 minutes, and sets a cookie that yields the next ones.",
    answer: { status: 204, about: "A cookie" },
    async run(call) {
      onlyOwnPages(call.request);
      const value = await beginAdminSession(call.services.logins, bearerOf(call.request) ?? "");
      return empty(sessionCookieSet(COOKIE, value, cookieRequest(call)));
    },
  }),
  operation({
    ...common,
    access: "anyone",
    method: "POST",
    path: `${SESSION}/renew`,
    summary: "The next token of a page's session",
    description: "204 if nobody is signed in.",
    answer: { status: 200, about: "A token, and who is signed in", schema: accessToken },
    async run(call) {
      onlyOwnPages(call.request);
      const given = sessionCookieOf(COOKIE, cookieRequest(call));
      const renewed = await renewAdminSession(call.services.logins, given);
      if (renewed === null) return empty(given === null ? null : sessionCookieCleared(COOKIE, cookieRequest(call)));
      const cookie: Record<string, string> =
        renewed.cookie === null ? {} : { "set-cookie": sessionCookieSet(COOKIE, renewed.cookie, cookieRequest(call)) };
      return Response.json(signInAnswer(renewed), { headers: { "cache-control": "no-store", ...cookie } });
    },
  }),
  operation({
    ...common,
    access: "signed_in",
    method: "DELETE",
    path: SESSION,
    summary: "Sign out everywhere",
    description: "Ends every session and token of the account.",
    answer: { status: 204, about: "Nobody is signed in any more" },
    async run(call) {
      await endAdminSessions(call.services.logins, call.admin, call.actor);
      return empty(sessionCookieCleared(COOKIE, cookieRequest(call)));
    },
  }),
  operation({
    ...common,
    access: "signed_in",
    method: "GET",
    path: FACTOR,
    summary: "Whether your two-factor sign-in is set up",
    answer: { status: 200, about: "Its state", schema: statusSchema },
    run: (call) => adminFactorStatus(call.services.logins, call.admin),
  }),
  operation({
    ...common,
    access: "signed_in",
    method: "POST",
    path: `${FACTOR}/setup`,
    summary: "Begin to set up two-factor sign-in",
    description:
      "A secret for an authenticator and ten backup codes, shown only here. In force once /v1/admin-users/2fa/verify has taken a code. Takes " +
      "a token of a sign-in in the last 15 minutes, or the password of those who have one.",
    body: adminFactorBegin,
    answer: { status: 200, about: "The secret and the codes", schema: adminFactorSetup },
    async run(call) {
      const token = await call.services.logins.tokens.verify(bearerOf(call.request) ?? "");
      const proof = { token: token === "expired" ? null : token, password: call.body.password };
      return beginAdminFactor(call.services.logins, call.admin, proof, call);
    },
  }),
  operation({
    ...common,
    access: "signed_in",
    method: "POST",
    path: `${FACTOR}/verify`,
    summary: "Switch two-factor sign-in on with a first code",
    body: adminCode,
    answer: { status: 200, about: "Its state", schema: statusSchema },
    async run(call) {
      await confirmAdminFactor(call.services.logins, call.admin, call.body.code, call);
      return adminFactorStatus(call.services.logins, call.admin);
    },
  }),
  operation({
    ...common,
    access: "signed_in",
    method: "POST",
    path: `${FACTOR}/disable`,
    summary: "Switch two-factor sign-in off",
    body: adminCode,
    answer: { status: 200, about: "Its state", schema: statusSchema },
    async run(call) {
      await disableAdminFactor(call.services.logins, call.admin, call.body.code, call);
      return adminFactorStatus(call.services.logins, call.admin);
    },
  }),
];
