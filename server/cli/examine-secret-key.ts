import { secretBox } from "../kernel/secrets.ts";
import type { Database } from "../store/database.ts";
import { openStoredKeys } from "../store/records/sealed-keys.ts";
import { type DoctorFinding, finding } from "./finding.ts";

/** Whether the secret key (base64) opens what is sealed with it; without a key, whether any is needed. */
export async function examineSecretKey(db: Database, secretKey: string | null): Promise<DoctorFinding> {
  const { looked, unreadable } = await openStoredKeys(db, secretKey === null ? null : secretBox(Buffer.from(secretKey, "base64")));
  const [first] = unreadable;
  if (first === undefined) return finding("ok", "secret key", `opens ${looked} stored upstream key(s)`);
  const remedy = "give the GW_SECRET_KEY they were stored under, or store them again";
  return secretKey === null
    ? finding("warning", "secret key", `there is none yet for ${looked} stored upstream key(s): ${remedy}`)
    : finding(
        "wrong",
        "secret key",
        `opens ${looked - unreadable.length} of ${looked} stored upstream keys, not that of ${first}: ${remedy}`,
      );
}
