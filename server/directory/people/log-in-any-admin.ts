import { Refused } from "../../kernel/errors.ts";
import { placeOf } from "../../kernel/ip-address.ts";
import { adminByUsername } from "../../store/admin-users.ts";
import { type AdminCodeOwed, logInAdmin, type LoginOrigin, type Logins, type SignIn, tenantOfLogin } from "./logins.ts";

type Kind = Parameters<typeof logInAdmin>[1];

/**
 * A login of whoever has the username, an admin of the system or of the tenant meant. Nothing is tried on an account that is not
 * there, so that nobody's login is counted and told as the failure of another. Where both are there, the system's is tried first.
 */
export async function logInAnyAdmin(
  logins: Logins,
  given: { readonly username: string; readonly password: string; readonly tenantId?: string | undefined },
  origin: LoginOrigin,
): Promise<SignIn | AdminCodeOwed> {
  const { db } = logins.directory;
  const tenantId = given.tenantId ?? (await tenantOfLogin(logins.directory, given.username));
  const [ofSystem, ofTenant] = await Promise.all([null, tenantId].map((one) => adminByUsername(db, one, given.username)));
  const [first, other]: readonly [Kind, Kind?] =
    ofSystem === undefined ? ["tenant"] : ofTenant === undefined ? ["system"] : ["system", "tenant"];
  try {
    return await logInAdmin(logins, first, given, origin);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const hasToWait = error.refusal.code === "too_many_logins";
    if (other !== undefined)
      // Who has to wait is not told that the password is wrong.
      return logInAdmin(logins, other, given, origin).catch((next: unknown) => {
        throw hasToWait ? error : next;
      });
    // No answer comes sooner because there is one account of the name and not two.
    if (!hasToWait) await logins.dummyVerify(given.password, { of: placeOf(origin.address), known: false });
    throw error;
  }
}
