import {
  accessToken,
  anyLogin,
  changePassword,
  codeLogin,
  loginAnswer,
  signedInAdmin,
  systemLogin,
  tenantLogin,
  type SignedInAdmin,
} from "@gatehouse/contracts/logins";
import { logInAdminWithCode } from "../../../directory/people/admin-sessions.ts";
import { logInAnyAdmin } from "../../../directory/people/log-in-any-admin.ts";
import {
  changeAdminPassword as change,
  logInAdmin,
  type Admin,
  type AdminCodeOwed,
  type SignIn,
} from "../../../directory/people/logins.ts";
import { operation, type AdminOperation } from "../operation.ts";

const PATH = "/v1/admin-users";
const common = { tag: "Logins", reach: "none" } as const;
const passwordTaken = { status: 200, about: "A token, and who is signed in; or that a code is owed", schema: loginAnswer } as const;
const signedIn = { status: 200, about: "A token, and who is signed in", schema: accessToken } as const;

function shown(admin: Admin): SignedInAdmin {
  return {
    id: admin.id,
    username: admin.username,
    role: admin.role,
    tenant_id: admin.tenantId,
    permissions: [...admin.permissions].sort(),
    two_factor: admin.twoFactor,
  };
}

export function loginAnswerOf(outcome: SignIn | AdminCodeOwed): unknown {
  return "tempToken" in outcome ? { requires_2fa: true, temp_token: outcome.tempToken, user: outcome.user } : signInAnswer(outcome);
}

export function signInAnswer(signIn: SignIn): unknown {
  return { access_token: signIn.token, token_type: "bearer", expires_in: signIn.expiresIn, user: shown(signIn.admin) };
}

/** An empty header names no tenant; no tenant has an empty name, and the system is no tenant. */
function namedTenant({ body, request }: { readonly body: { readonly tenant_id?: string | undefined }; readonly request: Request }) {
  return body.tenant_id ?? (request.headers.get("x-tenant-id") || undefined);
}

export const loginOperations: readonly AdminOperation[] = [
  operation({
    ...common,
    access: "anyone",
    method: "POST",
    path: `${PATH}/tenant/login`,
    summary: "Log in as a tenant's admin",
    description: "Every failure is the same 401. After some failures: 429 with Retry-After.",
    body: tenantLogin,
    answer: passwordTaken,
    async run(call) {
      const { username, password } = call.body;
      return loginAnswerOf(
        await logInAdmin(call.services.logins, "tenant", { username, password, tenantId: namedTenant(call) }, call.origin),
      );
    },
  }),
  operation({
    ...common,
    access: "anyone",
    method: "POST",
    path: `${PATH}/system/login`,
    summary: "Log in as a system admin",
    description: "Every failure is the same 401. After some failures: 429 with Retry-After.",
    body: systemLogin,
    answer: passwordTaken,
    run: async (call) => loginAnswerOf(await logInAdmin(call.services.logins, "system", call.body, call.origin)),
  }),
  operation({
    ...common,
    access: "anyone",
    method: "POST",
    path: `${PATH}/login`,
    summary: "Log in as whichever admin has the username",
    description:
      "Of the system, or of the tenant meant; where each has one, the system's is tried first. Every failure is the same 401, and counts for " +
      "both. After some failures: 429 with Retry-After.",
    body: anyLogin,
    answer: passwordTaken,
    async run(call) {
      const { username, password } = call.body;
      return loginAnswerOf(await logInAnyAdmin(call.services.logins, { username, password, tenantId: namedTenant(call) }, call.origin));
    },
  }),
  operation({
    ...common,
    access: "anyone",
    method: "POST",
    path: `${PATH}/login/2fa`,
    summary: "Finish a login with a code",
    description: "A code of the authenticator or a backup code; each works once.",
    body: codeLogin,
    answer: signedIn,
    run: async (call) =>
      signInAnswer(await logInAdminWithCode(call.services.logins, { tempToken: call.body.temp_token, code: call.body.code }, call.origin)),
  }),
  operation({
    ...common,
    access: "signed_in",
    method: "GET",
    path: `${PATH}/me`,
    summary: "Who is signed in",
    answer: { status: 200, about: "The caller, with their permissions", schema: signedInAdmin },
    run: async (call) => shown(call.admin),
  }),
  operation({
    ...common,
    access: "signed_in",
    method: "POST",
    path: `${PATH}/change-password`,
    summary: "Change your own password",
    description: "Ends every token of the account and returns a new one.",
    body: changePassword,
    answer: signedIn,
    run: async (call) =>
      signInAnswer(
        await change(call.services.logins, call.admin, { current: call.body.current_password, next: call.body.new_password }, call.origin),
      ),
  }),
];
