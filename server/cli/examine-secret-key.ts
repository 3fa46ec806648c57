import { secretBox } from "../kernel/secrets.ts";
import type { Database } from "../store/database.ts";
import { openStoredKeys } from "../store/records/sealed-keys.ts";
import { type DoctorFinding, finding } from "./finding.ts";

/** Whether the secret key (base64) opens what is sealed with it; without a key, whether any is needed. */
export async function examineSecretKey(db: Database, secretKey: string | null): Promise<DoctorFinding> {
  const { checked, unreadable } = await openStoredKeys(db, secretKey === null ? null : secretBox(Buffer.from(secretKey, "base64")));
  const [first] = unreadable;
  if (first === undefined) return finding("ok", "secret key", `opens ${checked} stored upstream key(s)`);
  const remedy = "give the GW_SECRET_KEY they were stored under, or store them again";
  return secretKey === null
    ? finding("warning", "secret key", `there is none yet for ${checked} stored upstream key(s): ${remedy}`)
    : finding(
        "wrong",
        "secret key",
        `opens ${checked - unreadable.length} of ${checked} stored upstream keys, not that of ${first}: ${remedy}`,
      );
}
