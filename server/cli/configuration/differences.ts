import type { CurrentRecord } from "./current.ts";
import type { Kind } from "./kinds.ts";
import { withoutPlaces } from "./places.ts";
import { type ConfigEntry, isConfigEntry, isSame, type ConfigValue } from "./value.ts";

export interface Difference {
  readonly member: string;
  /** Null in both for a secret, which is never shown. */
  readonly before: ConfigValue;
  readonly after: ConfigValue;
  /** False for a secret of which no read shows whether it is another: only writing it tells. */
  readonly isSeen: boolean;
}

/** Which members of an entry a record does not have. Members that the entry does not name are left as they are. */
export function differences(kind: Kind, wanted: ConfigEntry, current: CurrentRecord): Difference[] {
  const secrets = kind.secrets ?? [];
  const seen = withoutPlaces(wanted, secrets);
  const found: Difference[] = [];
  for (const [member, after] of Object.entries(seen)) {
    if (kind.key.includes(member)) continue;
    const before = current.entry[member] ?? null;
    const same = kind.partial?.includes(member) === true ? isWithin(after, before) : isEqual(kind, member, after, before);
    if (!same) found.push({ member, before, after, isSeen: true });
  }
  for (const member of secrets.filter((place) => wanted[place] !== undefined)) {
    const looks = lookOf(wanted[member] ?? null, member, current.record);
    if (looks !== "same") found.push({ member, before: null, after: null, isSeen: looks === "other" });
  }
  return found;
}

/** Lists of references are sets. */
function isEqual(kind: Kind, member: string, a: ConfigValue, b: ConfigValue): boolean {
  if (kind.references?.[member] !== undefined && Array.isArray(a) && Array.isArray(b))
    return isSame([...(a as readonly ConfigValue[])].map(String).toSorted(), [...(b as readonly ConfigValue[])].map(String).toSorted());
  return isSame(a, b);
}

function isWithin(wanted: ConfigValue, found: ConfigValue): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(found) &&
      wanted.length === found.length &&
      (wanted as readonly ConfigValue[]).every((item, n) => isWithin(item, (found as readonly ConfigValue[])[n] ?? null))
    );
  if (!isConfigEntry(wanted)) return isSame(wanted, found);
  return isConfigEntry(found) && Object.entries(wanted).every(([name, value]) => isWithin(value, found[name] ?? null));
}

/** What stands for the last four characters of a short secret, and of a file. */
const UNSHOWN = "****";

/** All that can be seen of a secret are its last four characters, and of some that there is one. */
function lookOf(secret: ConfigValue, member: string, record: ConfigEntry): "same" | "other" | "unknown" {
  const isThere = record[`has_${member}`] === true;
  if (secret === null || !isThere) return (secret !== null) === isThere ? "same" : "other";
  const hint = record[`${member}_hint`];
  if (typeof secret !== "string" || typeof hint !== "string" || hint === UNSHOWN) return "unknown";
  return secret.endsWith(hint) ? "same" : "other";
}
