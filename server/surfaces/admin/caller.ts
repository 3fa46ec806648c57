import { adminOfLogin, type Admin } from "../../directory/people/logins.ts";
import { type Refusal, refuse, Refused } from "../../kernel/errors.ts";
import type { AdminOperation } from "./operation.ts";
import type { AdminServices } from "./services.ts";

const BEARER = /^Bearer +(\S+) *$/i;

export function bearerOf(request: Request): string | undefined {
  return BEARER.exec(request.headers.get("authorization") ?? "")?.[1];
}

/** Authenticates the caller; null if the operation is public. Refuses callers who are not signed in. */
export async function signedInCaller(services: AdminServices, request: Request, { access }: AdminOperation): Promise<Admin | null> {
  if (access === "anyone") return null;
  const given = request.headers.get("authorization");
  const token = bearerOf(request);
  const admin =
    token === undefined ? (given === null ? "credential_missing" : "credential_malformed") : await adminOfLogin(services.logins, token);
  if (typeof admin === "string") throw new Refused(refuse("unauthenticated", undefined, { reason: admin }));
  return admin;
}

/** Why the caller may not perform the operation on anything; null if they may. */
export function lackOf(admin: Admin | null, { access }: AdminOperation): Refusal | null {
  if (admin === null || access === "anyone" || access === "signed_in") return null;
  if (admin.twoFactor === "owed") return refuse("two_factor_required");
  if (access === "system") return admin.tenantId === null ? null : refuse("forbidden", "Only a system admin may do this.");
  return admin.permissions.has(access) ? null : refuse("forbidden", `This needs the permission ${access}.`);
}
