import { type RawBuilder, sql } from "kysely";

/**
 * SQL condition: `end_users u` is in one of the resource groups, assigned by an administrator or through a user group. `groups` is a query
 * of IDs.
 */
export const isInGroups = (groups: RawBuilder<unknown>): RawBuilder<boolean> => sql`(u.assigned_group_id IN (${groups}) OR EXISTS (
  SELECT 1 FROM end_user_group_members m JOIN resource_group_end_user_groups b ON b.end_user_group_id = m.group_id
   WHERE m.end_user_id = u.id AND b.resource_group_id IN (${groups})))`;
