/** A kind of record in a configuration file, and where the admin API has it. */
export interface Kind {
  /** Its name in the file. */
  readonly section: string;
  readonly path: string;
  /** The member of a list response. */
  readonly list: string;
  /** The members that identify a record wherever the file is applied. */
  readonly key: readonly string[];
  /** For records whose key may repeat: what else distinguishes them; if nothing does, their order. */
  readonly apart?: (entry: Readonly<Record<string, unknown>>) => string;
  /** A unique property: a record that has it under another key is the same record, renamed. */
  readonly alone?: (entry: Readonly<Record<string, unknown>>) => string;
  /** Members with IDs of another section's records, which are names in the file. `*` stands for every item of a list. */
  readonly references?: Readonly<Record<string, string>>;
  /** Members that refer to another section's record by its key, in the API too. */
  readonly keyReferences?: Readonly<Record<string, string>>;
  /** Write-only members. */
  readonly secrets?: readonly string[];
  /** The paths of secret texts within `secrets` that are objects. */
  readonly secretTexts?: readonly string[];
  /** For such a secret: the member of a read that shows its other members, and which secret texts exist (`has_` and their name). */
  readonly settings?: Readonly<Record<string, string>>;
  /** Members whose own members may be given in part: the API fills in the others. */
  readonly partial?: readonly string[];
  /** Members that only repeat another one. */
  readonly derived?: readonly string[];
  /** Where records are created, if not where they are listed; `{member}` is substituted and not sent. */
  readonly createPath?: string;
  /** Members that may contain uploaded content, which no file holds. */
  readonly uploaded?: readonly string[];
  /** How records are changed, if not by PATCH: PUT replaces the record. */
  readonly change?: "PUT";
  /** For records that belong to a record of another section, named by `member`: where they are listed and created. Others are at `path`. */
  readonly below?: { readonly section: string; readonly member: string; readonly path: string };
  /** Records that are not configuration. */
  readonly isLeftOut?: (record: Readonly<Record<string, unknown>>) => boolean;
  /** Those of `references` that point to later sections; they are set once these exist. */
  readonly later?: readonly string[];
  /** Whether an entry has expired, so that it is not created if missing. */
  readonly isOver?: (entry: Readonly<Record<string, unknown>>) => boolean;
  /** Others may refer to them, but files do not contain them. */
  readonly isNamedOnly?: true;
  /** A record that the gateway creates along with the first of them: its name, and the response member with its ID. */
  readonly alongside?: { readonly section: string; readonly name: string; readonly id: string };
  /** Records that the gateway creates itself: others may refer to them, but files do not contain them. */
  readonly isOwn?: (record: Readonly<Record<string, unknown>>) => boolean;
}

/** Tool servers are identified by their address; their name is only a label. */
const addressOf = ({ base_url: base, mcp_endpoint_path: path }: Readonly<Record<string, unknown>>): string =>
  `${String(base).replace(/\/+$/, "")}${String(path ?? "/mcp")}`;

const GROUPS = { group_ids: "resource_groups" } as const;

/** In order of creation: records come after those they refer to. */
export const KINDS: readonly Kind[] = [
  {
    section: "resource_groups",
    path: "/v1/admin/resource-groups",
    list: "resource_groups",
    key: ["name"],
    references: { parent_group_id: "resource_groups", default_knowledgebase_ids: "knowledge_bases" },
    later: ["default_knowledgebase_ids"],
  },
  {
    section: "end_user_groups",
    path: "/v1/admin/end-user-groups",
    list: "end_user_groups",
    key: ["name"],
    // Members come from the directory, not from a file.
    derived: ["initial_member_ids"],
  },
  { section: "providers", path: "/v1/admin/providers", list: "providers", key: ["provider_key"], secrets: ["api_key"] },
  { section: "routing_groups", path: "/v1/admin/llm-router/routing-groups", list: "routing_groups", key: ["id"] },
  {
    section: "llms",
    path: "/v1/admin/llms",
    list: "llms",
    key: ["name"],
    references: { ...GROUPS, routing_group_id: "routing_groups" },
    keyReferences: { provider: "providers" },
    secrets: ["api_key"],
  },
  {
    section: "knowledge_bases",
    path: "/v1/admin/knowledgebases",
    list: "knowledgebases",
    key: ["name"],
    references: { ...GROUPS, embedding_model_id: "llms", indexing_group_id: "resource_groups" },
  },
  {
    section: "kb_connectors",
    path: "/v1/admin/kb-connectors",
    list: "connectors",
    key: ["name"],
    references: { knowledge_base_id: "knowledge_bases" },
    secrets: ["credential"],
  },
  // Imported as archives, whose files no configuration contains.
  { section: "agent_skills", path: "/v1/admin/agent-skills", list: "agent_skills", key: ["name"], isNamedOnly: true },
  {
    section: "web_search_providers",
    path: "/v1/admin/web-search",
    list: "web_search_providers",
    key: ["name"],
    secrets: ["api_key"],
    alongside: { section: "mcp_servers", name: "Web search", id: "server_id" },
  },
  { section: "webhooks", path: "/v1/admin/webhooks", list: "webhooks", key: ["name"], secrets: ["url", "signing_secret"] },
  {
    section: "mcp_servers",
    path: "/v1/admin/mcp-servers",
    list: "mcp_servers",
    key: ["name"],
    secrets: ["api_key"],
    apart: addressOf,
    alone: addressOf,
    uploaded: ["icon_url"],
    isOwn: ({ id }) => String(id).startsWith("system-"),
  },
  {
    section: "server_configs",
    path: "/v1/admin/server-configs",
    list: "server_configs",
    key: ["name"],
    references: { ...GROUPS, mcp_server_id: "mcp_servers", approver_group_ids: "resource_groups" },
  },
  {
    section: "virtual_servers",
    path: "/v1/admin/virtual-servers",
    list: "virtual_servers",
    key: ["name"],
    references: { ...GROUPS, "members.*.mcp_server_id": "mcp_servers" },
    partial: ["members"],
    derived: ["mcp_server_ids"],
  },
  {
    section: "agents",
    path: "/v1/admin/agents",
    list: "agents",
    key: ["card_name"],
    references: { resource_group_id: "resource_groups" },
    secrets: ["credentials"],
    secretTexts: ["credentials.value", "credentials.client_secret"],
    settings: { credentials: "credential_settings" },
  },
  {
    section: "agent_grants",
    path: "/v1/admin/agent-grants",
    list: "agent_grants",
    key: ["agent_id", "group_ids"],
    apart: ({ decision, skill_ids: skills }) =>
      `${String(decision ?? "allow")} ${Array.isArray(skills) ? skills.map(String).toSorted().join(", ") : "every skill"}`,
    references: { ...GROUPS, agent_id: "agents", approver_group_ids: "resource_groups" },
  },
  {
    section: "guardrail_configs",
    path: "/v1/admin/guardrails/configs",
    list: "configs",
    key: ["name"],
    references: GROUPS,
    secrets: ["providers.*.api_key"],
    partial: ["surfaces", "providers"],
  },
  { section: "argument_policies", path: "/v1/admin/argument-policies", list: "argument_policies", key: ["name"], references: GROUPS },
  {
    section: "semantic_cache_configs",
    path: "/v1/admin/semantic-cache/configs",
    list: "configs",
    key: ["name"],
    references: { ...GROUPS, embedding_model_id: "llms" },
    partial: ["exact_match", "semantic_match"],
  },
  {
    section: "semantic_policies",
    path: "/v1/admin/semantic-policies",
    list: "semantic_policies",
    key: ["name"],
    references: { resource_group_ids: "resource_groups", judge_model_id: "llms" },
  },
  {
    section: "identity_providers",
    path: "/v1/admin/identity-providers",
    list: "identity_providers",
    key: ["name"],
    references: {
      "api.resource_group_id": "resource_groups",
      "group_mappings.*.resource_group_id": "resource_groups",
      "group_mappings.*.end_user_group_id": "end_user_groups",
    },
    secrets: ["client_secret"],
    partial: ["oidc", "saml", "api", "attributes", "group_mappings"],
  },
  {
    section: "ai_systems",
    path: "/v1/admin/ai-systems",
    list: "ai_systems",
    key: ["group_id"],
    references: { group_id: "resource_groups" },
    // Retired ones cannot be changed any more.
    isLeftOut: ({ lifecycle_state: state }) => state === "retired",
  },
  {
    section: "response_policies",
    path: "/v1/admin/response-policies",
    list: "response_policies",
    key: ["name"],
    references: { ai_system_id: "ai_systems" },
    change: "PUT",
    below: { section: "ai_systems", member: "ai_system_id", path: "/v1/admin/ai-systems/{id}/response-policies" },
  },
  {
    section: "api_keys",
    path: "/v1/admin/api-keys",
    list: "api_keys",
    key: ["resource_group_id", "name"],
    references: { resource_group_id: "resource_groups", allowed_skill_ids: "agent_skills" },
    createPath: "/v1/admin/resource-groups/{resource_group_id}/api-keys",
    derived: ["end_user_id", "scope"],
    isOver: ({ expires_at: end }) => typeof end === "string" && Date.parse(end) <= Date.now(),
    // A person's own keys come and go with the person.
    isLeftOut: ({ status, end_user_id: person }) => status !== "active" || person !== null,
  },
];

/** The sections of a file. */
export const KINDS_IN_FILES: readonly Kind[] = KINDS.filter(({ isNamedOnly }) => isNamedOnly !== true);
