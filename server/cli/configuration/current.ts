import type { ConfigApi } from "./admin-api.ts";
import { type GroupDocument, GROUP_DOCUMENTS, ITEM_DOCUMENTS } from "./group-documents.ts";
import { KINDS_IN_FILES, type Kind, KINDS } from "./kinds.ts";
import { membersTaken, membersTakingNull, propertiesOf } from "./members.ts";
import { apartName, entryName, entryNames } from "./entry-name.ts";
import { Names } from "./names.ts";
import { withoutPlaces } from "./places.ts";
import { readTenantDocuments } from "./tenant-documents.ts";
import { type ConfigEntry, isConfigEntry, type ConfigValue } from "./value.ts";

/** A record of the gateway, with names instead of IDs and without read-only members. */
export interface CurrentRecord {
  readonly name: string;
  readonly id: string;
  readonly entry: ConfigEntry;
  /** As it was read. */
  readonly record: ConfigEntry;
}

/** The tenant's configuration, in the form of a file. */
export interface Current {
  readonly names: Names;
  readonly records: ReadonlyMap<string, readonly CurrentRecord[]>;
  /** The members that can be set on creation, by section. */
  readonly taken: ReadonlyMap<string, ReadonlySet<string>>;
  /** Those of them that may be null. */
  readonly nullable: ReadonlyMap<string, ReadonlySet<string>>;
  /** The schemas of a record's members, by section, and the OpenAPI document that contains them. */
  readonly bodies: ReadonlyMap<string, ConfigEntry>;
  readonly document: ConfigEntry;
  /** The members that can be changed later. */
  readonly changeable: ReadonlyMap<string, ReadonlySet<string>>;
  /** The tenant's own settings; null if the administrator may not read them. */
  readonly tenant: ConfigEntry | null;
  readonly tenantMembers: ReadonlySet<string>;
  /** The configured documents that the tenant has once. */
  readonly tenantDocuments: ReadonlyMap<string, ConfigEntry>;
}

export async function readCurrent(api: ConfigApi): Promise<Current> {
  const document = await api.ask("GET", "/openapi.json");
  const names = new Names();
  const lists = new Map<string, ConfigEntry[]>();
  for (const kind of KINDS) {
    const all = (await listed(api, kind, lists)).filter((record) => kind.isLeftOut?.(record) !== true);
    lists.set(
      kind.section,
      all.filter((record) => kind.isOwn?.(record) !== true && kind.isNamedOnly !== true),
    );
    // A record that is identified by what it refers to is named after that.
    const named = all.map((record) => names.named(kind, record));
    for (const [at, name] of entryNames(kind, named).entries()) {
      const id = String(all[at]?.["id"]);
      names.add(kind.section, name, id);
      names.also(kind.section, apartName(kind, named[at] ?? {}), id);
    }
  }
  for (const kind of KINDS) for (const record of lists.get(kind.section) ?? []) names.addGone(kind, record);
  const taken = new Map<string, ReadonlySet<string>>();
  const nullable = new Map<string, ReadonlySet<string>>();
  const bodies = new Map<string, ConfigEntry>();
  const changeable = new Map<string, ReadonlySet<string>>();
  const records = new Map<string, CurrentRecord[]>();
  for (const kind of KINDS_IN_FILES) {
    const made = kind.createPath?.replace("{resource_group_id}", "{id}") ?? kind.path;
    bodies.set(kind.section, propertiesOf(document, "POST", made));
    const below = kind.below === undefined ? [] : [kind.below.member];
    taken.set(kind.section, new Set([...membersTaken(document, "POST", made), ...below]));
    nullable.set(kind.section, membersTakingNull(document, "POST", made));
    changeable.set(kind.section, membersTaken(document, kind.change ?? "PATCH", `${kind.path}/{id}`));
    records.set(
      kind.section,
      (lists.get(kind.section) ?? [])
        .map((record) => currentRecord(kind, record, taken.get(kind.section) ?? new Set(), names))
        // Sorted by name, so that two tenants made from one file export the same.
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    );
  }
  // A legal hold is set and ended by people, not by applying a file.
  const tenantMembers = new Set([...membersTaken(document, "PATCH", "/v1/admin/tenants/{id}")].filter((member) => member !== "legal_hold"));
  return {
    names,
    records,
    taken,
    nullable,
    bodies,
    document,
    changeable,
    tenantMembers,
    tenant: await readTenant(api, tenantMembers, names),
    tenantDocuments: await readTenantDocuments(api),
  };
}

/** Records of a kind that belong to records of another kind are listed under each of these. */
async function listed(api: ConfigApi, kind: Kind, lists: ReadonlyMap<string, readonly ConfigEntry[]>): Promise<ConfigEntry[]> {
  const found = await api.all(kind.path, kind.list);
  const { below } = kind;
  if (below === undefined) return found;
  for (const { id } of lists.get(below.section) ?? []) {
    const own = await api.all(below.path.replace("{id}", encodeURIComponent(String(id))), kind.list);
    found.push(...own.filter((record) => record[below.member] === id));
  }
  return found;
}

function currentRecord(kind: Kind, record: ConfigEntry, taken: ReadonlySet<string>, names: Names): CurrentRecord {
  const named = names.named(kind, record);
  const settable = Object.fromEntries(Object.entries(named).filter(([member]) => taken.has(member) || kind.key.includes(member)));
  const uploaded = (kind.uploaded ?? []).filter((member) => String(record[member]).startsWith("data:"));
  const entry = withoutPlaces(settable, [...(kind.derived ?? []), ...uploaded]);
  const id = String(record["id"]);
  return { name: names.nameOf(kind.section, id) ?? entryName(kind, named), id, entry, record };
}

const JUDGE = "default_judge_model_id";

async function readTenant(api: ConfigApi, members: ReadonlySet<string>, names: Names): Promise<ConfigEntry | null> {
  try {
    const record = await api.ask("GET", `/v1/admin/tenants/${encodeURIComponent(api.tenantId)}`);
    const judge = record[JUDGE];
    const settable = Object.fromEntries(Object.entries(record).filter(([member]) => members.has(member)));
    return typeof judge === "string" ? { ...settable, [JUDGE]: names.nameOf("llms", judge) ?? judge } : settable;
  } catch (error) {
    if ((error as { status?: number }).status === 403) return null;
    throw error;
  }
}

/** A resource group's policy documents, and those of each model and tool server in it, by name. */
export async function readGroupDocuments(api: ConfigApi, groupId: string, names: Names): Promise<ConfigEntry> {
  const base = `/v1/admin/resource-groups/${groupId}`;
  const found: Record<string, ConfigEntry> = {};
  for (const one of GROUP_DOCUMENTS) {
    const document = await readDocument(api, `${base}/${one.path}`, one);
    if (Object.keys(document).length > 0) found[one.member] = document;
  }
  const models = await api.all(`${base}/llm-models`, "llm_models");
  const { refinements } = await api.ask("GET", `${base}/effective-limits`);
  for (const one of ITEM_DOCUMENTS) {
    for (const id of refinedItems(refinements, one.kind)) {
      const name = names.nameOf(one.of, id);
      const document = name === undefined ? {} : await readDocument(api, `${base}/${one.segment}/${id}/${one.path}`, one);
      if (name === undefined || Object.keys(document).length === 0) continue;
      const section = (found[one.of] ??= {}) as Record<string, ConfigEntry>;
      section[name] = { ...section[name], [one.member]: document };
    }
  }
  for (const { id, portal_visible: visible, inherited, judge_only: judgeOnly } of models) {
    const name = names.nameOf("llms", String(id));
    if (name === undefined || visible !== false || inherited !== false || judgeOnly !== false) continue;
    const section = (found["llms"] ??= {}) as Record<string, ConfigEntry>;
    section[name] = { ...section[name], portal_visible: false };
  }
  return found;
}

export async function readDocument(api: ConfigApi, path: string, { body }: GroupDocument): Promise<ConfigEntry> {
  const answer = await api.ask("GET", path);
  const document = answer["own"] ?? answer[body];
  return isConfigEntry(document) ? document : {};
}

/** Items that the group or one above it refines: limits are possible not only for what is granted to the group. */
function refinedItems(refinements: ConfigValue | undefined, kind: string): string[] {
  if (!Array.isArray(refinements)) return [];
  const named = (refinements as readonly ConfigValue[]).filter(isConfigEntry).filter((one) => one["kind"] === kind);
  return named.map(({ item_id: id }) => String(id));
}
