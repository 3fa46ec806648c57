import type { Current, CurrentRecord } from "./current.ts";
import { type Difference, differences } from "./differences.ts";
import type { ConfigurationFile } from "./document.ts";
import { KINDS_IN_FILES, type Kind } from "./kinds.ts";
import { apartName, entryNames, recordsOf } from "./entry-name.ts";
import { valuesAt, withoutPlaces } from "./places.ts";
import { type Environment, withSecrets } from "./secrets.ts";
import { faultsOf } from "./value-faults.ts";
import type { ConfigEntry } from "./value.ts";

/** What is to be done with one record. */
export type Step =
  | { readonly action: "create"; readonly kind: Kind; readonly name: string; readonly entry: ConfigEntry }
  | {
      readonly action: "change";
      readonly kind: Kind;
      readonly name: string;
      /** Null if an earlier step creates it. */
      readonly id: string | null;
      readonly entry: ConfigEntry;
      readonly differences: readonly Difference[];
    }
  | { readonly action: "delete"; readonly kind: Kind; readonly name: string; readonly id: string };

/**
 * Steps that bring a tenant to the file's state, in an executable order. Everything that can be known to fail is added to `wrong` before
 * anything is written: unknown members, names and variables, and invalid values.
 */
export function planOf(
  file: ConfigurationFile,
  current: Current,
  { env, prune, warn }: { readonly env: Environment; readonly prune: boolean; readonly warn: (warning: string) => void },
  wrong: string[],
): Step[] {
  const steps: Step[] = [];
  const late: Step[] = [];
  const known = knownNames(file, current);
  for (const kind of KINDS_IN_FILES) {
    for (const { entry, name, found } of meantRecords(kind, file.sections.get(kind.section) ?? [], current)) {
      const { entry: resolved, unset } = withSecrets(entry, env);
      const wanted = current.names.canonical(kind, resolved);
      wrong.push(...unknownMembers(kind, name, wanted, current), ...unknownNames(kind, name, wanted, { file, current, known }));
      wrong.push(...wrongValues(kind, name, wanted, current));
      if (found === undefined && kind.isOver?.(wanted) === true) warn(`${kind.section} "${name}": its time is over, so it is not made`);
      else if (found === undefined) {
        for (const variable of unset) wrong.push(`${kind.section} "${name}": ${variable} is not set`);
        const forward = (kind.later ?? []).filter((member) => wanted[member] !== undefined && wanted[member] !== null);
        steps.push({ action: "create", kind, name, entry: withoutPlaces(wanted, forward) });
        const set = forward.map((member) => ({ member, before: null, after: wanted[member] ?? null, isSeen: true }));
        if (set.length > 0) late.push({ action: "change", kind, name, id: null, entry: wanted, differences: set });
      } else {
        const changeable = current.changeable.get(kind.section) ?? new Set();
        const changes = differences(kind, wanted, found).filter(({ member, isSeen }) => isSeen || changeable.has(member));
        wrong.push(...fixedMembers(kind, name, changes, current), ...unsetParts(kind, name, entry, changes, env));
        const isLate = ({ member }: Difference) => kind.later?.includes(member) === true;
        for (const [to, some] of [
          [steps, changes.filter((one) => !isLate(one))],
          [late, changes.filter(isLate)],
        ] as const)
          if (some.length > 0) to.push({ action: "change", kind, name, id: found.id, entry: wanted, differences: some });
      }
    }
  }
  steps.push(...late);
  return prune ? [...steps, ...unwanted(file, current)] : steps;
}

interface Meant {
  readonly entry: ConfigEntry;
  readonly name: string;
  readonly found: CurrentRecord | undefined;
}

/** A section's entries in creation order, each with the record it refers to, which goes by the entry's name from now on. */
function meantRecords(kind: Kind, entries: readonly ConfigEntry[], current: Current): Meant[] {
  const named = entries.map((entry) => current.names.canonical(kind, entry));
  const records = recordsOf(kind, named, current.records.get(kind.section) ?? []);
  const names = entryNames(kind, entries);
  const meant = entries.map((entry, at) => ({ entry, name: names[at] ?? "", found: records[at] }));
  for (const { name, found } of meant) if (found !== undefined) current.names.also(kind.section, name, found.id);
  return inOrder(kind, meant);
}

/** Whether a name exists in the file or at the gateway. */
export type KnownNames = (section: string, name: string) => boolean;

export function knownNames(file: ConfigurationFile, current: Current): KnownNames {
  const own = new Map(KINDS_IN_FILES.map((kind) => [kind.section, new Set(namesInFile(kind, file.sections.get(kind.section) ?? []))]));
  for (const { section, alongside } of KINDS_IN_FILES)
    if (alongside !== undefined && (file.sections.get(section) ?? []).length > 0) own.get(alongside.section)?.add(alongside.name);
  return (section, name) => own.get(section)?.has(name) === true || current.names.idOf(section, name) !== undefined;
}

function namesInFile(kind: Kind, entries: readonly ConfigEntry[]): string[] {
  return [...entryNames(kind, entries), ...entries.map((entry) => apartName(kind, entry))];
}

function unknownMembers(kind: Kind, name: string, entry: ConfigEntry, current: Current): string[] {
  const taken = current.taken.get(kind.section) ?? new Set();
  return Object.keys(entry)
    .filter((member) => !taken.has(member) && !kind.key.includes(member))
    .map((member) => `${kind.section} "${name}": ${member} is not known here`);
}

/** Skips secrets, whose values must not be reported. */
function wrongValues(kind: Kind, name: string, entry: ConfigEntry, current: Current): string[] {
  const body = current.bodies.get(kind.section) ?? {};
  return Object.entries(entry)
    .filter(([member]) => kind.secrets?.includes(member) !== true)
    .flatMap(([member, value]) => faultsOf(current.document, body[member], value, member))
    .map((fault) => `${kind.section} "${name}": ${fault}`);
}

function unknownNames(
  kind: Kind,
  name: string,
  entry: ConfigEntry,
  { file, current, known }: { readonly file: ConfigurationFile; readonly current: Current; readonly known: KnownNames },
): string[] {
  const wrong: string[] = [];
  for (const [place, section] of Object.entries({ ...kind.references, ...kind.keyReferences }))
    for (const [at, referred] of valuesAt(entry, place))
      if (!known(section, referred))
        wrong.push(`${kind.section} "${name}": ${at} names "${referred}", ${noneOf(section, referred, file, current)}`);
  return wrong;
}

function noneOf(section: string, name: string, file: ConfigurationFile, current: Current): string {
  const kind = KINDS_IN_FILES.find((one) => one.section === section);
  const there = [
    ...(kind === undefined ? [] : entryNames(kind, file.sections.get(section) ?? [])),
    ...(current.records.get(section) ?? []).map((record) => record.name),
  ];
  const several = [...new Set(there)].filter((one) => one.startsWith(`${name} (`));
  return several.length === 0
    ? `which is none of ${section}`
    : `of which there are several: say ${several.map((one) => `"${one}"`).join(" or ")}`;
}

function fixedMembers(kind: Kind, name: string, changes: readonly Difference[], current: Current): string[] {
  const changeable = current.changeable.get(kind.section) ?? new Set();
  return changes
    .filter(({ member }) => !changeable.has(member))
    .map(
      ({ member }) => `${kind.section} "${name}": ${member} cannot be changed once it is made; delete it first, or give it another name`,
    );
}

/** A secret with members is written as a whole, so its write-only parts must come from the environment. */
function unsetParts(kind: Kind, name: string, entry: ConfigEntry, changes: readonly Difference[], env: Environment): string[] {
  return changes
    .filter(({ member }) => kind.settings?.[member] !== undefined)
    .flatMap(({ member }) => withSecrets({ [member]: entry[member] ?? null }, env).unset)
    .map((variable) => `${kind.section} "${name}": ${variable} is not set`);
}

/** Entries that others of the same section refer to come first. */
function inOrder<T extends { readonly name: string; readonly entry: ConfigEntry }>(kind: Kind, all: readonly T[]): T[] {
  const own = Object.entries(kind.references ?? {}).filter(([, section]) => section === kind.section);
  const left = new Map(all.map((one) => [one.name, one]));
  const ordered: T[] = [];
  const take = (name: string): void => {
    const one = left.get(name);
    if (one === undefined) return;
    left.delete(name);
    for (const [place] of own) for (const [, referred] of valuesAt(one.entry, place)) take(referred);
    ordered.push(one);
  };
  for (const { name } of all) take(name);
  return ordered;
}

/** Records missing from the sections that the file contains; those that refer to others are deleted first. */
function unwanted(file: ConfigurationFile, current: Current): Step[] {
  const steps: Step[] = [];
  for (const kind of KINDS_IN_FILES.toReversed()) {
    const wanted = file.sections.get(kind.section);
    if (wanted === undefined) continue;
    const records = current.records.get(kind.section) ?? [];
    const named = wanted.map((entry) => current.names.canonical(kind, entry));
    const kept = new Set(recordsOf(kind, named, records));
    const gone = records.filter((record) => !kept.has(record));
    for (const { name, id } of inOrder(kind, gone).toReversed()) steps.push({ action: "delete", kind, name, id });
  }
  return steps;
}
