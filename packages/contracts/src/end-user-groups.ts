import { z } from "zod";
import { description, displayName, pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

const MAX_IDS = 10_000;
const ids = z.array(recordId).max(MAX_IDS);
const someIds = ids.min(1);

const written = { display_name: displayName.optional(), description: description.optional() };

export const endUserGroupCreate = z
  .strictObject({ name: recordName, ...written, initial_member_ids: ids.optional() })
  .meta({ id: "EndUserGroupCreate" });
export const endUserGroupUpdate = z
  .strictObject({
    name: recordName.optional(),
    ...written,
    initial_member_ids: ids.optional().describe("the complete list of direct members, as in PUT of the members"),
  })
  .meta({ id: "EndUserGroupUpdate" });

export const endUserGroup = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    name: z.string(),
    display_name: z.string().nullable(),
    description: z.string().nullable(),
    member_count: z.number().int(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "EndUserGroup" });

export const endUserGroupQuery = z.strictObject({ ...pageQuery.shape, search });

export const groupMember = z
  .strictObject({
    id: recordId,
    username: z.string(),
    email: z.string().nullable(),
    display_name: z.string().nullable(),
    is_active: z.boolean(),
    sources: z.array(z.string()).describe("`direct`, or the external directory the membership comes from"),
  })
  .meta({ id: "GroupMember" });

export const memberIds = z.strictObject({ end_user_ids: someIds }).meta({ id: "MemberIds" });
export const memberSet = z
  .strictObject({ end_user_ids: ids.describe("the complete list of direct members; others are removed") })
  .meta({ id: "MemberSet" });

const list = z.string().max(400_000).optional().describe("comma list, instead of a body");

/** Body of a DELETE, which may have its IDs in the query instead. */
export const maybeMemberIds = z.strictObject({ end_user_ids: someIds.optional() });
export const memberIdsQuery = z.strictObject({ end_user_ids: list });

/** The IDs under either name; a DELETE may have them in the query instead. */
export const maybeResourceGroupIds = z.strictObject({
  resource_group_ids: someIds.optional(),
  group_ids: someIds.optional().describe("same as resource_group_ids"),
});
export const resourceGroupIds = maybeResourceGroupIds
  .refine((body) => (body.resource_group_ids === undefined) !== (body.group_ids === undefined), {
    path: ["resource_group_ids"],
    message: "is required",
  })
  .meta({ id: "ResourceGroupIds" });
export const resourceGroupIdsQuery = z.strictObject({ resource_group_ids: list });

export const endUserGroupIds = z.strictObject({ end_user_group_ids: someIds }).meta({ id: "EndUserGroupIds" });
export const maybeEndUserGroupIds = z.strictObject({ end_user_group_ids: someIds.optional() });
export const endUserGroupIdsQuery = z.strictObject({ end_user_group_ids: list });

export const memberSetResult = z
  .strictObject({ added: z.array(recordId), removed: z.array(recordId), member_count: z.number().int() })
  .meta({ id: "MemberSetResult" });

export type EndUserGroup = z.output<typeof endUserGroup>;
export type EndUserGroupCreate = z.output<typeof endUserGroupCreate>;
export type EndUserGroupUpdate = z.output<typeof endUserGroupUpdate>;
export type EndUserGroupQuery = z.output<typeof endUserGroupQuery>;
export type GroupMember = z.output<typeof groupMember>;
