import { readYaml } from "../../runtime/yaml.ts";
import { attachedMembers } from "./attached.ts";
import { GROUP_DOCUMENTS, ITEM_DOCUMENTS } from "./group-documents.ts";
import { KINDS_IN_FILES, type Kind } from "./kinds.ts";
import { apartName, entryName, entryNames } from "./entry-name.ts";
import { TENANT_DOCUMENTS } from "./tenant-documents.ts";
import { type ConfigEntry, isConfigEntry, type ConfigValue } from "./value.ts";

export const FORMAT = "gatehouse/configuration/v1";

/** A configuration file: every section it contains, with records in file order. */
export interface ConfigurationFile {
  readonly sections: ReadonlyMap<string, readonly ConfigEntry[]>;
  readonly tenant: ConfigEntry | null;
  /** Documents that the tenant has once, by the member they are under. */
  readonly tenantDocuments: ReadonlyMap<string, ConfigEntry>;
  /** Each resource group's policy documents by the group's name, separate from the group itself. */
  readonly groupDocuments: ReadonlyMap<string, ConfigEntry>;
  /** Attached documents and bindings of records, by section and name. */
  readonly attached: ReadonlyMap<string, ReadonlyMap<string, ConfigEntry>>;
}

const TENANT_MEMBERS = TENANT_DOCUMENTS.map(({ member }) => member);
const DOCUMENT_MEMBERS = [...GROUP_DOCUMENTS.map(({ member }) => member), ...new Set(ITEM_DOCUMENTS.map(({ of }) => of))];

/** Parses YAML or JSON. Throws one error that lists everything wrong with it. */
export function readConfigurationFile(text: string): ConfigurationFile {
  let parsed: unknown;
  try {
    parsed = readYaml(text);
  } catch (error) {
    throw new Error(`it is no YAML: ${(error as Error).message}`, { cause: error });
  }
  if (!isConfigEntry(parsed)) throw new Error("it must be a mapping of sections");
  const wrong = sectionsTwice(text).map((section) => `${section}: is there twice, and only the last one would count`);
  const { format, tenant, ...members } = parsed;
  if (format !== FORMAT) wrong.push(`format: must be ${FORMAT}`);
  const once = TENANT_MEMBERS.filter((name) => members[name] !== undefined);
  for (const name of ["tenant", ...once])
    if (parsed[name] !== undefined && !isConfigEntry(parsed[name])) wrong.push(`${name}: must be a mapping`);
  const tenantDocuments = new Map(once.map((name) => [name, isConfigEntry(members[name]) ? members[name] : {}]));
  const attached = new Map<string, ReadonlyMap<string, ConfigEntry>>();
  const unknown: string[] = [];
  const sections = new Map<string, readonly ConfigEntry[]>();
  const groupDocuments = new Map<string, ConfigEntry>();
  for (const [section, value] of Object.entries(members).filter(([name]) => !once.includes(name))) {
    const kind = KINDS_IN_FILES.find((one) => one.section === section);
    if (kind === undefined) unknown.push(section);
    else {
      const { entries, beside } = withoutAttached(kind, entriesOf(kind, value ?? [], wrong, groupDocuments));
      sections.set(section, entries);
      attached.set(section, beside);
    }
  }
  wrong.push(...unknownSections(unknown));
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  return { sections, tenant: isConfigEntry(tenant) ? tenant : null, tenantDocuments, groupDocuments, attached };
}

function withoutAttached(kind: Kind, entries: readonly ConfigEntry[]) {
  const members = attachedMembers(kind.section);
  const beside = new Map<string, ConfigEntry>();
  const names = entryNames(kind, entries);
  const own = entries.map((entry, at) => {
    const found = Object.entries(entry).filter(([member]) => members.includes(member));
    if (found.length > 0) beside.set(names[at] ?? "", Object.fromEntries(found));
    return Object.fromEntries(Object.entries(entry).filter(([member]) => !members.includes(member)));
  });
  return { entries: own, beside };
}

function sectionNames(): string[] {
  return ["tenant", ...TENANT_MEMBERS, ...KINDS_IN_FILES.map(({ section }) => section)];
}

function unknownSections(unknown: readonly string[]): string[] {
  if (unknown.length === 0) return [];
  const messages = unknown.map((section) => {
    const meant = sectionNames().find((name) => isAlmost(section, name));
    return `${section}: is no section${meant === undefined ? "" : `; is ${meant} meant?`}`;
  });
  return [...messages, `There are ${sectionNames().join(", ")}.`];
}

/** Whether two names differ by at most a letter or two. */
function isAlmost(a: string, b: string): boolean {
  let before = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (const [at, letter] of [...a].entries()) {
    const row = [at + 1];
    for (const [n, other] of [...b].entries())
      row.push(Math.min((before[n] ?? 0) + (letter === other ? 0 : 1), (before[n + 1] ?? 0) + 1, (row[n] ?? 0) + 1));
    before = row;
  }
  return (before.at(-1) ?? 0) <= 2;
}

/** Duplicate sections, which the YAML reader accepts silently: the first one would be ignored. */
function sectionsTwice(text: string): string[] {
  if (text.trimStart().startsWith("{")) return [];
  const names = sectionNames();
  const seen = [...text.matchAll(/^["']?([a-z_]+)["']?[ \t]*:(?=\s|$)/gm)].map(([, name]) => name ?? "");
  return names.filter((name) => seen.filter((one) => one === name).length > 1);
}

function entriesOf(kind: Kind, value: ConfigValue, wrong: string[], groupDocuments: Map<string, ConfigEntry>): ConfigEntry[] {
  if (!Array.isArray(value)) {
    wrong.push(`${kind.section}: must be a list`);
    return [];
  }
  const found: ConfigEntry[] = [];
  const seen = new Set<string>();
  for (const [at, item] of (value as readonly ConfigValue[]).entries()) {
    const missing = isConfigEntry(item) ? kind.key.filter((member) => item[member] === undefined) : [];
    if (!isConfigEntry(item)) wrong.push(`${kind.section}[${at}]: must be a mapping`);
    else if (missing.length > 0) wrong.push(`${kind.section}[${at}].${missing[0]}: is missing`);
    else {
      const name = kind.apart === undefined ? entryName(kind, item) : apartName(kind, item);
      // An agent may be granted to a group twice in the same words.
      if (seen.has(name) && kind.section !== "agent_grants") wrong.push(`${kind.section}[${at}]: "${name}" is there twice`);
      seen.add(name);
      const documents = kind.section === "resource_groups" ? DOCUMENT_MEMBERS.filter((member) => item[member] !== undefined) : [];
      if (documents.length > 0) groupDocuments.set(name, Object.fromEntries(documents.map((member) => [member, item[member] ?? null])));
      found.push(Object.fromEntries(Object.entries(item).filter(([member]) => !documents.includes(member))));
    }
  }
  return found;
}

/** The member of a reference that stands for a secret: the variable to read it from. */
export const FROM_ENVIRONMENT = "from_env";

export function isReference(value: ConfigValue | undefined): value is { readonly [FROM_ENVIRONMENT]: string } {
  return isConfigEntry(value) && Object.keys(value).length === 1 && typeof value[FROM_ENVIRONMENT] === "string";
}
