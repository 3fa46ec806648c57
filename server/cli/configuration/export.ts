import { yamlOf } from "../../runtime/yaml.ts";
import type { ConfigApi } from "./admin-api.ts";
import { ATTACHED_BINDINGS, ATTACHED_DOCUMENTS, attachedEntry, attachedTaken, readAttached, readBindings } from "./attached.ts";
import { type Current, readCurrent, readGroupDocuments } from "./current.ts";
import { FORMAT } from "./document.ts";
import { type Kind, KINDS_IN_FILES } from "./kinds.ts";
import { SecretNames } from "./secrets.ts";
import { type ConfigEntry, isConfigEntry, type ConfigValue } from "./value.ts";

const HEAD = `# The configuration of a tenant: what \`gatehouse config apply\` makes.
# Members are those of the admin API; where one holds the id of a record, here is its name. Secrets are named, not held:
# { from_env: NAME } is what the variable holds when this is applied, and stays as it is where the variable is not set.
`;

/**
 * A tenant's whole configuration as a file. Empty members are left out unless `all` is set. `warn` is called for references to deleted
 * records, which no other tenant could be given.
 */
export async function exportConfiguration(api: ConfigApi, all: boolean, warn: (warning: string) => void): Promise<string> {
  const current = await readCurrent(api);
  const warnOfGone = (about: string, one: Pick<Kind, "references">, record: ConfigEntry): void => {
    for (const [at, id] of current.names.addGone(one, record))
      warn(`${about}${at} names "${id}", which is gone: take it out to apply this file to another tenant`);
  };
  const file: Record<string, ConfigValue> = { format: FORMAT };
  if (current.tenant !== null) file["tenant"] = all ? current.tenant : withoutUnsetValues(current.tenant, new Set());
  for (const [member, document] of current.tenantDocuments) file[member] = document;
  const secrets = new SecretNames();
  for (const kind of KINDS_IN_FILES) {
    const entries: ConfigEntry[] = [];
    for (const { entry, name, id, record } of current.records.get(kind.section) ?? []) {
      warnOfGone(`${kind.section} "${name}": `, kind, record);
      const documents = kind.section === "resource_groups" ? await readGroupDocuments(api, id, current.names) : {};
      const shown = all ? entry : withoutUnsetValues(entry, current.nullable.get(kind.section) ?? new Set());
      entries.push({
        ...Object.fromEntries(kind.key.map((member) => [member, entry[member] ?? null])),
        ...shown,
        ...secrets.references(kind, name, record, shown),
        ...documents,
        ...(await attachedOf(api, kind, { name, id }, { current, secrets, warnOfGone })),
      });
    }
    if (entries.length > 0) file[kind.section] = entries;
  }
  return `${HEAD}${yamlOf(file)}`;
}

interface Exporting {
  readonly current: Current;
  readonly secrets: SecretNames;
  readonly warnOfGone: (about: string, one: Pick<Kind, "references">, record: ConfigEntry) => void;
}

async function attachedOf(
  api: ConfigApi,
  kind: Kind,
  { name, id }: { readonly name: string; readonly id: string },
  { current: { names, document }, secrets, warnOfGone }: Exporting,
): Promise<ConfigEntry> {
  const found: Record<string, ConfigValue> = {};
  for (const one of ATTACHED_DOCUMENTS.filter(({ section }) => section === kind.section)) {
    const answer = await readAttached(api, one, id);
    if (answer === null) continue;
    warnOfGone(`${kind.section} "${name}": ${one.member}.`, one, answer);
    const isKept = one.secret !== undefined && answer[`has_${one.secret}`] === true;
    found[one.member] = {
      ...attachedEntry(one, answer, attachedTaken(one, document), names),
      ...(isKept ? { [one.secret]: secrets.reference(kind, name, `${one.member}_${one.secret}`) } : {}),
    };
  }
  for (const one of ATTACHED_BINDINGS.filter(({ section }) => section === kind.section)) {
    const bound = await readBindings(api, one, id, names);
    if (bound.length > 0) found[one.member] = bound;
  }
  return found;
}

/** Leaves out nulls, and empty values where null is not allowed and so they mean the same. */
function withoutUnsetValues(entry: ConfigEntry, nullable: ReadonlySet<string>): ConfigEntry {
  const isEmpty = (value: ConfigValue): boolean =>
    (Array.isArray(value) && value.length === 0) || (isConfigEntry(value) && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(entry).filter(([member, value]) => value !== null && (nullable.has(member) || !isEmpty(value))));
}
