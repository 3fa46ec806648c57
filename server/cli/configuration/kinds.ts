/** A kind of record that a file of configuration holds, and where the admin API keeps it. */
export interface Kind {
  /** Its name in the file. */
  readonly section: string;
  readonly path: string;
  /** The member of a list's answer. */
  readonly list: string;
  /** The members that tell one from all others, wherever it is applied. */
  readonly key: readonly string[];
  /** Of records whose key may stand twice, what else tells one from the others; where it does not, their order does. */
  readonly apart?: (entry: Readonly<Record<string, unknown>>) => string;
  /** What no two records can have: one that has it under another key is the same record, renamed. */
  readonly alone?: (entry: Readonly<Record<string, unknown>>) => string;
  /** Members that hold ids of another section's records; the file has their names. `*` stands for every item of a list. */
  readonly references?: Readonly<Record<string, string>>;
  /** Members that name another section's record by its key, here as in the API. */
  readonly keyReferences?: Readonly<Record<string, string>>;
  /** Members that no read shows. */
  readonly secrets?: readonly string[];
  /** Where in `secrets` the secret texts stand, when what is there has members. */
  readonly secretTexts?: readonly string[];
  /** Of such a secret, the member of a read that shows its other members, and with `has_` before their names which secret texts there are. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Members whose own members may be given in part: the API fills in the others. */
  readonly partial?: readonly string[];
  /** Members that say the same as another one. */
  readonly derived?: readonly string[];
  /** Where one is made, when that is elsewhere than where they are listed; `{member}` is put in and not sent. */
  readonly createPath?: string;
  /** Members in which something may stand that was uploaded beside the record: no file holds that. */
  readonly uploaded?: readonly string[];
  /** How one is changed, when not by PATCH: PUT takes it whole. */
  readonly change?: "PUT";
  /** Where those are listed and made that belong to a record of another section, which `member` names; others are at `path`. */
  readonly below?: { readonly section: string; readonly member: string; readonly path: string };
  /** Records that are nobody's configuration. */
  readonly isLeftOut?: (record: Readonly<Record<string, unknown>>) => boolean;
  /** Of `references`, those to sections that come later: they are set when these are there. */
  readonly later?: readonly string[];
  /** Of one that is not there, whether its time is over: it is made no more. */
  readonly isOver?: (entry: Readonly<Record<string, unknown>>) => boolean;
  /** Others may name them, and no file holds them. */
  readonly isNamedOnly?: true;
  /** What the gateway makes along with the first of them: the name it has there, and the member of the answer that tells its id. */
  readonly alongside?: { readonly section: string; readonly name: string; readonly id: string };
  /** Records that the gateway makes by itself: others may name them, the file does not hold them. */
  readonly isOwn?: (record: Readonly<Record<string, unknown>>) => boolean;
}

/** Where a tool server is nobody else can be; its name is only what people call it. */
const addressOf = ({ base_url: base, mcp_endpoint_path: path }: Readonly<Record<string, unknown>>): string =>
  `${String(base).replace(/\/+$/, "")}${String(path ?? "/mcp")}`;

const GROUPS = { group_ids: "resource_groups" } as const;

/** In the order in which they can be made: what others refer to comes before them. */
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
    // Who is in them is the directory's to say, not a file's.
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
  // They are imported as archives, with files that no configuration holds.
  { section: "agent_skills", path: "/v1/admin/agent-skills", list: "agent_skills", key: ["name"], isNamedOnly: true },
  {
    section: "web_search_providers",
    path: "/v1/admin/web-search",
    list: "web_search_providers",
    key: ["name"],
    secrets: ["api_key"],
    alongside: { section: "mcp_servers", name: "Web search", id: "server_id" },
  },
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
    // Nothing of it can be changed any more.
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
