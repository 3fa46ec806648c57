/** A document of a resource group: read and replaced as a whole at `{group}/{path}`, under `member` there and in the file. */
export interface GroupDocument {
  readonly member: string;
  readonly path: string;
  readonly body: string;
}

export const GROUP_DOCUMENTS: readonly GroupDocument[] = [
  { member: "llm_global_limits", path: "llm-global-limits", body: "llm_global_limits" },
  { member: "llm_global_governance", path: "llm-global-governance", body: "governance" },
  { member: "mcp_global_limits", path: "mcp-global-limits", body: "mcp_global_limits" },
  { member: "skill_global_limits", path: "skill-global-limits", body: "skill_global_limits" },
  { member: "media_governance", path: "media-governance", body: "media_governance" },
  { member: "run_ceilings", path: "run-ceilings", body: "run_ceilings" },
  { member: "web_search", path: "web-search", body: "web_search" },
];

/** The same for one model or tool server within a group: `{group}/{of}/{id}/{path}`, in the file under `of` and its name. */
export interface ItemDocument extends GroupDocument {
  readonly of: string;
  readonly segment: string;
  /** The name of the item's ID parameter in the OpenAPI document. */
  readonly param: string;
  /** Its kind in the refinements of a group's effective limits. */
  readonly kind: string;
}

export const ITEM_DOCUMENTS: readonly ItemDocument[] = [
  { of: "llms", segment: "llm-models", param: "model_id", member: "limits", path: "limits", body: "limits", kind: "llm_limits" },
  {
    of: "llms",
    segment: "llm-models",
    param: "model_id",
    member: "governance",
    path: "governance",
    body: "governance",
    kind: "llm_governance",
  },
  { of: "mcp_servers", segment: "mcp-servers", param: "server_id", member: "limits", path: "limits", body: "limits", kind: "mcp_limits" },
  {
    of: "agent_skills",
    segment: "agent-skills",
    param: "skill_id",
    member: "limits",
    path: "limits",
    body: "limits",
    kind: "skill_limits",
  },
];
