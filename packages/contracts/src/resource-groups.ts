import { z } from "zod";
import { description, displayName, pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

export const groupType = z.enum(["organization", "team"]);

const written = {
  display_name: displayName.optional(),
  description: description.optional(),
  group_type: groupType.optional().describe("default at creation: team"),
  inherit_resources: z.boolean().optional().describe("whether it inherits what is bound to its parents; default at creation: true"),
  parent_group_id: recordId.nullable().optional().describe("null: a root"),
  eu_ai_act_risk_tier: z.enum(["prohibited", "high", "limited", "minimal"]).nullable().optional(),
  phi_resource: z.boolean().nullable().optional().describe("whether it handles protected health information"),
  default_knowledgebase_ids: z
    .array(recordId)
    .max(20)
    .nullable()
    .optional()
    .describe("knowledge bases for calls that name none; null: as in the group above"),
};

export const resourceGroupCreate = z.strictObject({ name: recordName, ...written }).meta({ id: "ResourceGroupCreate" });
export const resourceGroupUpdate = z.strictObject({ name: recordName.optional(), ...written }).meta({ id: "ResourceGroupUpdate" });

export const resourceGroup = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    parent_group_id: recordId.nullable(),
    name: z.string(),
    display_name: z.string().nullable(),
    description: z.string().nullable(),
    group_type: groupType,
    inherit_resources: z.boolean(),
    eu_ai_act_risk_tier: z.string().nullable(),
    phi_resource: z.boolean().nullable(),
    default_knowledgebase_ids: z.array(recordId).nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "ResourceGroup" });

export type ResourceGroup = z.output<typeof resourceGroup>;

export interface GroupTree extends ResourceGroup {
  children: GroupTree[];
}

export const groupTree: z.ZodType<GroupTree> = z
  .strictObject({
    ...resourceGroup.shape,
    get children() {
      return z.array(groupTree);
    },
  })
  .meta({ id: "ResourceGroupTree" });

export const groupHierarchy = z.strictObject({ hierarchy: groupTree }).meta({ id: "ResourceGroupHierarchy" });
export const groupLine = z
  .strictObject({ resource_groups: z.array(resourceGroup), total: z.number().int() })
  .meta({ id: "ResourceGroupLine" });

export const resourceGroupQuery = z.strictObject({
  ...pageQuery.shape,
  search,
  parent_id: z
    .union([recordId, z.literal("root")])
    .optional()
    .describe("children of this group; `root`: groups without a parent"),
  group_type: groupType.optional(),
});

export type ResourceGroupCreate = z.output<typeof resourceGroupCreate>;
export type ResourceGroupUpdate = z.output<typeof resourceGroupUpdate>;
export type ResourceGroupQuery = z.output<typeof resourceGroupQuery>;
