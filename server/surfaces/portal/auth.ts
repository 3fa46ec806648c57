import {
  changedPassword,
  portalLoginAnswer,
  portalSession,
  registered,
  secondFactorBegun,
  secondFactorChanged,
  secondFactorState,
  signedOut,
  validToken,
} from "@gatehouse/contracts/portal-answers";
import {
  portalLogin,
  portalPasswordChange,
  REGISTRATION_BYTES,
  registration,
  secondFactorBegin,
  secondFactorCode,
  secondFactorDisable,
  secondFactorLogin,
} from "@gatehouse/contracts/portal";
import {
  changePortalPassword,
  logInPortalUser,
  logInWithCode,
  type PortalTenant,
  tokenAnswer,
} from "../../directory/people/portal/portal-logins.ts";
import { registerEndUser } from "../../directory/people/portal/registration.ts";
import {
  beginSecondFactor,
  confirmSecondFactor,
  disableSecondFactor,
  secondFactorStatus,
} from "../../directory/people/portal/second-factor.ts";
import type { Call } from "../../road/call.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { portalAnswer, portalOperation, type PortalRoute } from "./portal-operation.ts";

const AUTH = "/v1/portal/auth";
const open = { admits: "anyone", authenticates: true } as const;

interface Person {
  readonly id: string;
  readonly username: string;
}

/** Records whose call it is, if no credential identified the user. */
export function noteUser(call: Call, { id, username }: Person): void {
  call.row.gateway_user_id = id;
  call.row.gateway_user_username = username;
  call.row.subject_kind = "user";
  call.row.subject_id = id;
}

const tenantOf = ({ tenant, tenantMissing }: Call): PortalTenant => tenant ?? { missing: tenantMissing ?? "tenant_unknown" };

export const authRoutes: readonly PortalRoute[] = [
  portalOperation({
    ...open,
    method: "POST",
    path: `${AUTH}/register`,
    name: "register",
    summary: "Creates an account",
    answer: { status: 201, schema: registered },
    body: registration,
    maxBodyBytes: REGISTRATION_BYTES,
    async run({ services, call, body, origin }) {
      try {
        const user = await registerEndUser(services.logins, tenantOf(call), body, origin);
        noteUser(call, user);
        return portalAnswer(201, {
          id: user.id,
          username: user.username,
          email: user.email,
          display_name: user.display_name,
          created_at: user.created_at,
        });
      } catch (error) {
        // Whose account has the name is not revealed to strangers.
        if (error instanceof Refused && error.refusal.code === "conflict") return refuse("conflict", "This username is taken.");
        throw error;
      }
    },
  }),
  portalOperation({
    ...open,
    method: "POST",
    path: `${AUTH}/login`,
    name: "login",
    summary: "Signs in; requires a second factor if the account has one",
    answer: { status: 200, schema: portalLoginAnswer },
    body: portalLogin,
    async run({ services, call, body, origin }) {
      const outcome = await logInPortalUser(services.logins, tenantOf(call), body, origin);
      noteUser(call, outcome.user);
      if ("tempToken" in outcome)
        return { requires_2fa: true, temp_token: outcome.tempToken, user: { id: outcome.user.id, username: outcome.user.username } };
      return tokenAnswer(outcome);
    },
  }),
  portalOperation({
    ...open,
    method: "POST",
    path: `${AUTH}/login/2fa`,
    name: "login_2fa",
    summary: "Signs in with the second factor",
    answer: { status: 200, schema: portalSession },
    body: secondFactorLogin,
    async run({ services, call, body, origin }) {
      const signedIn = await logInWithCode(services.logins, { tempToken: body.temp_token, code: body.code }, origin);
      call.row.tenant_id = signedIn.user.tenant_id;
      noteUser(call, signedIn.user);
      return tokenAnswer(signedIn);
    },
  }),
  portalOperation({
    authenticates: true,
    method: "POST",
    path: `${AUTH}/validate`,
    name: "validate",
    summary: "The user of the token",
    answer: { status: 200, schema: validToken },
    run: async ({ user }) => ({ valid: true, user: { id: user.id, username: user.username }, tenant_id: user.tenant_id }),
  }),
  portalOperation({
    authenticates: true,
    method: "POST",
    path: `${AUTH}/change-password`,
    name: "change_password",
    summary: "Changes the user's password, and ends every other session",
    answer: { status: 200, schema: changedPassword },
    body: portalPasswordChange,
    run: async ({ services, who, body, origin }) => ({
      success: true,
      ...(tokenAnswer(
        await changePortalPassword(services.logins, who, { current: body.current_password, next: body.new_password }, origin),
      ) as object),
    }),
  }),
  portalOperation({
    authenticates: true,
    method: "POST",
    path: `${AUTH}/logout`,
    name: "logout",
    summary: "Signs out",
    answer: { status: 200, schema: signedOut }, // The client discards its token; the gateway has no session to end.
    run: async () => ({ success: true, message: "Signed out: forget the token." }),
  }),
  portalOperation({
    authenticates: true,
    method: "GET",
    path: `${AUTH}/2fa/status`,
    name: "2fa_status",
    summary: "Whether two-factor login is on",
    answer: { status: 200, schema: secondFactorState },
    run: ({ services, who }) => secondFactorStatus(services.logins, who),
  }),
  portalOperation({
    authenticates: true,
    method: "POST",
    path: `${AUTH}/2fa/setup`,
    name: "2fa_setup",
    summary: "Begins two-factor login: the secret and the backup codes, shown once",
    answer: { status: 200, schema: secondFactorBegun },
    body: secondFactorBegin,
    run: ({ services, call, who, body, origin }) =>
      beginSecondFactor(services.logins, who, { token: call.token, password: body.password }, origin),
  }),
  portalOperation({
    authenticates: true,
    method: "POST",
    path: `${AUTH}/2fa/verify`,
    name: "2fa_verify",
    summary: "Switches two-factor login on with a code of the new secret",
    answer: { status: 200, schema: secondFactorChanged },
    body: secondFactorCode,
    async run({ services, who, body, origin }) {
      await confirmSecondFactor(services.logins, who, body.code, origin);
      return { success: true, enabled: true };
    },
  }),
  portalOperation({
    authenticates: true,
    method: "POST",
    path: `${AUTH}/2fa/disable`,
    name: "2fa_disable",
    summary: "Switches two-factor login off, with a code or the password",
    answer: { status: 200, schema: secondFactorChanged },
    body: secondFactorDisable,
    async run({ services, who, body, origin }) {
      await disableSecondFactor(services.logins, who, body, origin);
      return { success: true, enabled: false };
    },
  }),
];
