import { randomBytes } from "node:crypto";
import { systemClock } from "../../kernel/clock.ts";
import { secretBox } from "../../kernel/secrets.ts";
import type { Database } from "../../store/database.ts";
import { adminByUsername } from "../../store/people/admin-users.ts";
import { write, type Actor } from "../writes/write.ts";
import { resetAdminSecondFactor } from "./reset-admin-factor.ts";

const OPERATOR: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };

/** Resets the second factor of an administrator, of the system if the tenant is null, for whoever has the database. */
export async function resetFactorByOperator(
  db: Database,
  tenantId: string | null,
  username: string,
): Promise<{ readonly outcome: "reset" | "had_none"; readonly username: string } | null> {
  const row = await adminByUsername(db, tenantId, username);
  if (row === undefined) return null;
  if (!row.totp_enabled) return { outcome: "had_none", username: row.username };
  const directory = {
    ...{ db, clock: systemClock(), fallbackJudge: null },
    // Nothing is encrypted or hashed by a reset.
    secrets: secretBox(randomBytes(32)),
    hashPassword: () => Promise.reject(new Error("no password is set here")),
  };
  await write(directory, OPERATOR, (change) => resetAdminSecondFactor(change, tenantId, row.id));
  return { outcome: "reset", username: row.username };
}
