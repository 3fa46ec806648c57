import { Refused } from "../../kernel/errors.ts";
import { adminByUsername } from "../../store/people/admin-users.ts";
import {
  accountOfLogin,
  type AdminCodeOwed,
  logInAdmin,
  type LoginOrigin,
  type Logins,
  type SignIn,
  tenantOfLogin,
  tooManyLogins,
} from "./logins.ts";

interface Given {
  readonly username: string;
  readonly password: string;
  readonly tenantId: string;
}

type Kind = Parameters<typeof logInAdmin>[1];
type Outcome = SignIn | AdminCodeOwed | Refused;

/**
 * Logs in a system or tenant admin by username. Only existing accounts are tried and logged, the system's first. In every
 * case a failure does the same work and counts for both, so that neither timing nor later throttling reveals which
 * usernames exist.
 */
export async function logInAnyAdmin(
  logins: Logins,
  { tenantId: named, ...credentials }: { readonly username: string; readonly password: string; readonly tenantId?: string | undefined },
  origin: LoginOrigin,
): Promise<SignIn | AdminCodeOwed> {
  const { directory } = logins;
  const tenantId = named ?? (await tenantOfLogin(directory, credentials.username));
  const given = { ...credentials, tenantId };
  const [ofSystem, ofTenant] = await Promise.all([null, tenantId].map((one) => adminByUsername(directory.db, one, given.username)));
  const tried: readonly Kind[] = ofSystem === undefined ? ["tenant"] : ofTenant === undefined ? ["system"] : ["system", "tenant"];
  const refusals = new Map<Kind, Refused>();
  for (const kind of tried) {
    const outcome = await refusalOr(logInAdmin(logins, kind, given, origin));
    if (!(outcome instanceof Refused)) return outcome;
    refusals.set(kind, outcome);
  }
  for (const kind of (["system", "tenant"] as const).filter((one) => !tried.includes(one))) {
    const refusal = await failUnknownLogin(logins, kind, given, origin);
    if (refusal !== null) refusals.set(kind, refusal);
  }
  const [first, second] = [refusals.get("system"), refusals.get("tenant")];
  // A caller who is throttled must not learn that the password is wrong.
  throw [first, second].find((refusal) => refusal?.refusal.code === "too_many_logins") ?? first ?? second;
}

async function refusalOr(login: Promise<SignIn | AdminCodeOwed>): Promise<Outcome> {
  try {
    return await login;
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

/** Counts a failure for a missing account, with the same work as for an existing one. Returns the refusal if throttled. */
async function failUnknownLogin(logins: Logins, kind: Kind, given: Given, { address }: LoginOrigin): Promise<Refused | null> {
  const account = accountOfLogin(kind, kind === "system" ? null : given.tenantId, given.username);
  const outcome = await logins.throttle.attempt(account, address, (turn) => logins.dummyVerify(given.password, turn));
  return outcome.ran ? null : tooManyLogins(outcome.retryAfter);
}
