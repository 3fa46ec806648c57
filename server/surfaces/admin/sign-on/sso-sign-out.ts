import { signOnEnd } from "@gatehouse/contracts/sign-on";
import { Refused } from "../../../kernel/errors.ts";
import { notSignedOut, SIGNED_OUT } from "../../../wire/http/back-channel-logout.ts";
import { type AdminOperation, operation } from "../operation.ts";
import { idOf } from "../resource.ts";
import { consoleSignOnPage, formOf, CONSOLE_SSO } from "./sso.ts";

/** Single sign-out, initiated by the provider or by our page. */
export const ssoSignOutOperations: readonly AdminOperation[] = [
  operation({
    tag: "Logins",
    reach: "none",
    access: "anyone",
    method: "POST",
    path: `${CONSOLE_SSO}/{id}/backchannel-logout`,
    summary: "An OpenID Connect provider signs an administrator out",
    description: "A form with a logout_token, as OpenID Connect Back-Channel Logout 1.0 has it. 400 for a token that proves nothing.",
    answer: { status: 200, about: "Nobody the token means is signed in any more", media: "application/json" },
    async run(call) {
      try {
        const token = (await formOf(call)).get("logout_token");
        const actor = { ...call.actor, id: null, username: null, role: null };
        await call.services.signOn.signedOutByProvider(consoleSignOnPage(call), idOf(call), token, actor);
        return new Response(SIGNED_OUT.body, { headers: SIGNED_OUT.headers });
      } catch (error) {
        if (!(error instanceof Refused) || error.refusal.code !== "sign_on_refused") throw error;
        const { status, headers, body } = notSignedOut(error.refusal.message);
        return new Response(body, { status, headers });
      }
    },
  }),
  operation({
    tag: "Logins",
    reach: "none",
    access: "signed_in",
    method: "POST",
    path: `${CONSOLE_SSO}/sign-out`,
    summary: "Where to sign out at the identity provider as well",
    description: "Request this before the session ends here. Null after a sign-in with a password, or if the provider has no `sign_out`.",
    answer: { status: 200, about: "Where to go on", schema: signOnEnd },
    async run(call) {
      const page = consoleSignOnPage(call);
      return { continue_at: await call.services.signOn.signOutAddress(page, call.admin.id, new URL("/console/", page.base).href) };
    },
  }),
];
