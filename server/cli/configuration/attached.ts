import { type AdminMethod, AdminApiError, type ConfigApi } from "./admin-api.ts";
import type { Kind } from "./kinds.ts";
import { membersTaken } from "./members.ts";
import type { Names } from "./names.ts";
import { type ConfigEntry, isConfigEntry, type ConfigValue } from "./value.ts";

/** A document of a record with its own address, where it is read and written; in the file it is under `member` of the record. */
export interface AttachedDocument extends Pick<Kind, "references"> {
  readonly section: string;
  readonly member: string;
  /** `{id}` is the record's. */
  readonly path: string;
  /** If writes go elsewhere: the record's ID is then in the body under `idMember`. */
  readonly idMember?: string;
  readonly write: AdminMethod & ("PUT" | "PATCH");
  /** Whether null in the file deletes it. */
  readonly isRemovable?: true;
  /** The write-only member. */
  readonly secret?: string;
  /** The members a file has, if not all that a write accepts. */
  readonly only?: readonly string[];
  /** Whether a response contains anything configured. */
  readonly isInAnswer: (answer: ConfigEntry) => boolean;
}

/** The records of another section that a record is bound to; the file lists all of them by name. */
export interface AttachedBindings {
  readonly section: string;
  readonly member: string;
  readonly to: string;
  readonly path: string;
  readonly list: string;
  /** Whether one response contains them all, without paging. */
  readonly isWhole?: true;
  readonly body: string;
}

export const ATTACHED_DOCUMENTS: readonly AttachedDocument[] = [
  {
    section: "mcp_servers",
    member: "oauth_client",
    path: "/v1/admin/mcp-servers/{id}/oauth-client",
    write: "PUT",
    isRemovable: true,
    secret: "client_secret",
    isInAnswer: () => true,
  },
  {
    section: "ai_systems",
    member: "envelope",
    path: "/v1/admin/ai-systems/{id}/envelope",
    write: "PUT",
    // Ceilings of its runs belong to its resource group.
    only: ["autonomy_level", "restrictions"],
    references: { "restrictions.model_ids": "llms", "restrictions.mcp_server_ids": "mcp_servers", "restrictions.agent_ids": "agents" },
    isInAnswer: ({ autonomy_level: level, restrictions }) => level !== "autonomous" || restrictions !== null,
  },
  {
    section: "resource_groups",
    member: "notice",
    path: "/v1/admin/notice-config?ai_system_id={id}",
    idMember: "ai_system_id",
    write: "PUT",
    isRemovable: true,
    isInAnswer: ({ source }) => source === "system",
  },
  {
    section: "providers",
    member: "usage_import",
    path: "/v1/admin/usage-import/providers/{id}",
    write: "PATCH",
    secret: "api_key",
    // The day up to which everything was imported changes with each run.
    only: ["import_enabled", "import_schedule_cron", "import_mapping_policy", "import_endpoint_override", "import_account", "api_key"],
    isInAnswer: ({ import_enabled: enabled, has_api_key: hasKey }) => enabled === true || hasKey === true,
  },
];

export const ATTACHED_BINDINGS: readonly AttachedBindings[] = [
  {
    section: "end_user_groups",
    member: "resource_group_ids",
    to: "resource_groups",
    path: "/v1/admin/end-user-groups/{id}/resource-groups",
    list: "resource_groups",
    isWhole: true,
    body: "resource_group_ids",
  },
  {
    section: "resource_groups",
    member: "agent_skill_ids",
    to: "agent_skills",
    path: "/v1/admin/resource-groups/{id}/agent-skills",
    list: "agent_skills",
    body: "skill_ids",
  },
];

/** Members of a section's records in the file that are not members of the record itself. */
export function attachedMembers(section: string): string[] {
  return [...ATTACHED_DOCUMENTS, ...ATTACHED_BINDINGS].filter((one) => one.section === section).map(({ member }) => member);
}

export function attachedAt({ path }: { readonly path: string }, id: string): string {
  return path.replace("{id}", encodeURIComponent(id));
}

/** The members of it that the file may contain. */
export function attachedTaken(one: AttachedDocument, document: ConfigEntry): ReadonlySet<string> {
  const taken = membersTaken(document, one.write, one.path.replace(/\?.*/, ""));
  return new Set([...taken].filter((member) => member !== one.idMember && one.only?.includes(member) !== false));
}

/** The gateway's response; null if nothing is configured. */
export async function readAttached(api: ConfigApi, one: AttachedDocument, id: string): Promise<ConfigEntry | null> {
  const answer = await readAttachedAnswer(api, one, id);
  return answer !== null && one.isInAnswer(answer) ? answer : null;
}

/** Includes defaults if nothing is configured; null if the document does not exist. */
export async function readAttachedAnswer(api: ConfigApi, one: AttachedDocument, id: string): Promise<ConfigEntry | null> {
  try {
    return await api.ask("GET", attachedAt(one, id));
  } catch (error) {
    if (error instanceof AdminApiError && error.status === 404) return null;
    throw error;
  }
}

/** The document as the file has it: names instead of IDs, without empty members and without its secret. */
export function attachedEntry(one: AttachedDocument, answer: ConfigEntry, taken: ReadonlySet<string>, names: Names): ConfigEntry {
  const named = names.named(one, answer);
  return Object.fromEntries(Object.entries(named).flatMap(([member, value]) => (taken.has(member) ? entriesOf(member, value) : [])));
}

function entriesOf(member: string, value: ConfigValue): [string, ConfigValue][] {
  if (value === null) return [];
  // Within a document, absent and an empty list may differ; absent and null never do.
  return [[member, isConfigEntry(value) ? Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null)) : value]];
}

/** The names of the records that this one is bound to. */
export async function readBindings(api: ConfigApi, one: AttachedBindings, id: string, names: Names): Promise<string[]> {
  const path = attachedAt(one, id);
  const listed = one.isWhole === true ? (await api.ask("GET", path))[one.list] : await api.all(path, one.list);
  const bound = Array.isArray(listed) ? (listed as readonly ConfigValue[]).filter(isConfigEntry) : [];
  return bound
    .filter(({ inherited }) => inherited !== true)
    .map((record) => names.nameOf(one.to, String(record["id"])) ?? String(record["id"]))
    .toSorted();
}
