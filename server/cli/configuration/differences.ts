import type { CurrentRecord } from "./current.ts";
import type { Kind } from "./kinds.ts";
import { changeAt, withoutPlaces } from "./places.ts";
import { shownSettings, secretTextsOf } from "./secrets.ts";
import { type ConfigEntry, isConfigEntry, isSame, isSpelledAlike, type ConfigValue } from "./value.ts";

export interface Difference {
  readonly member: string;
  /** Null in both for a secret, which is never shown. */
  readonly before: ConfigValue;
  readonly after: ConfigValue;
  /** False if only writing it can tell whether it differs: a write-only secret, or another spelling. */
  readonly isSeen: boolean;
}

/** The members of an entry that differ from the record. Members that the entry does not have are left alone. */
export function differences(kind: Kind, wanted: ConfigEntry, current: CurrentRecord): Difference[] {
  const secrets = kind.secrets ?? [];
  const seen = secrets.reduce(withoutSecrets, wanted);
  const found: Difference[] = [];
  for (const [member, after] of Object.entries(seen)) {
    // The key identifies the record, unless a unique property does.
    if (kind.key.includes(member) && kind.alone === undefined) continue;
    const before = current.entry[member] ?? null;
    const same = kind.partial?.includes(member) === true ? isAllOf(after, before) : isEqual(kind, member, after, before);
    if (!same) found.push({ member, before, after, isSeen: !isSpelledAlike(before, after) });
  }
  for (const member of secrets.filter((place) => wanted[place] !== undefined)) {
    const given = wanted[member] ?? null;
    if (isConfigEntry(given) && kind.settings?.[member] !== undefined && current.record[`has_${member}`] === true) {
      const texts = secretTextsOf(kind, member);
      const after = withoutPlaces(given, texts);
      const before = shownSettings(kind, member, current.record);
      if (!isSame(before, after)) found.push({ member, before, after, isSeen: true });
      // Without any secret text, nothing could replace the current one.
      if (!isSame(before, after) || texts.every((text) => given[text] === undefined)) continue;
    }
    const comparison = secretComparison(given, member, current.record);
    if (comparison !== "same") found.push({ member, before: null, after: null, isSeen: comparison === "other" });
  }
  return found;
}

/** For a secret within list items, only its presence is visible. */
function withoutSecrets(entry: ConfigEntry, place: string): ConfigEntry {
  const [list, inner] = place.split(".*.");
  if (list === undefined || inner === undefined) return withoutPlaces(entry, [place]);
  return changeAt(entry, `${list}.*`, (item) => {
    if (!isConfigEntry(item) || item[inner] === undefined) return item;
    const { [inner]: secret, ...others } = item;
    return { ...others, [`has_${inner}`]: secret !== null };
  });
}

/** Lists of references are sets. */
function isEqual(kind: Kind, member: string, a: ConfigValue, b: ConfigValue): boolean {
  const asSet = (list: ConfigValue) => [...new Set((list as readonly ConfigValue[]).map(String))].toSorted();
  if (kind.references?.[member] !== undefined && Array.isArray(a) && Array.isArray(b)) return isSame(asSet(a), asSet(b));
  return isSame(a, b);
}

export function isAllOf(wanted: ConfigValue, found: ConfigValue): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(found) &&
      wanted.length === found.length &&
      (wanted as readonly ConfigValue[]).every((item, n) => isAllOf(item, (found as readonly ConfigValue[])[n] ?? null))
    );
  if (!isConfigEntry(wanted)) return isSame(wanted, found);
  return isConfigEntry(found) && Object.entries(wanted).every(([name, value]) => isAllOf(value, found[name] ?? null));
}

/** Shown in place of the last four characters of a short secret, or of a file. */
const UNSHOWN = new Set(["****", "file"]);

/** Compares a secret by what is visible: its last four characters, or only its presence. */
export function secretComparison(secret: ConfigValue, member: string, record: ConfigEntry): "same" | "other" | "unknown" {
  const isThere = record[`has_${member}`] === true;
  if (secret === null || !isThere) return (secret !== null) === isThere ? "same" : "other";
  const hint = record[`${member}_hint`];
  if (typeof secret !== "string" || typeof hint !== "string" || UNSHOWN.has(hint)) return "unknown";
  return secret.endsWith(hint) ? "same" : "other";
}
