import type { Database } from "../store/database.ts";
import { countSealed, type SealedCount } from "../store/records/sealed-values.ts";
import { type DoctorFinding, finding } from "./finding.ts";
import { boxesOf, type SecretKeys } from "./secret-keys.ts";

const REMEDY = "give the GW_SECRET_KEY they were stored under, or store them again";

/** Whether the secret key opens what is encrypted with it, and what another key is still needed for; without a key, whether any is needed. */
export async function examineSecretKey(db: Database, keys: SecretKeys | null): Promise<DoctorFinding> {
  const counts = await countSealed(db, keys === null ? null : boxesOf(keys));
  const kept = counts.filter(({ isBrief }) => !isBrief);
  const readable = sum(counts, "current");
  const keptReadable = sum(kept, "current") + sum(kept, "other");
  const lost = kept.filter(({ unreadable }) => unreadable > 0);
  const first = lost[0]?.firstUnreadable ?? null;
  const all = keptReadable + sum(kept, "unreadable");
  if (keys === null)
    return all === 0
      ? finding("ok", "secret key", "there is none yet, and nothing stored needs one")
      : finding("warning", "secret key", `there is none yet for ${all} stored secret(s): ${REMEDY}`);
  if (first !== null)
    return finding(
      "wrong",
      "secret key",
      `opens ${keptReadable} of ${all} stored secrets, not ${listed(lost, "unreadable")}, first that of ${first}: ${REMEDY}`,
    );
  const old = counts.filter(({ other }) => other > 0);
  if (old.length > 0)
    return finding(
      "warning",
      "secret key",
      `${readable} stored secret(s) are under it, and under another key ${listed(old, "other")}: once every process has the new ` +
        "GW_SECRET_KEY, run gatehouse rotate-secret-key",
    );
  return finding(
    "ok",
    "secret key",
    `opens ${sum(kept, "current")} stored secret(s)${kept.length > 0 ? `: ${listed(kept, "current")}` : ""}`,
  );
}

type Counted = "current" | "other" | "unreadable";

const sum = (counts: readonly SealedCount[], state: Counted) => counts.reduce((total, count) => total + count[state], 0);

const listed = (counts: readonly SealedCount[], state: Counted) => counts.map((count) => `${count[state]} ${count.kind}`).join(", ");
