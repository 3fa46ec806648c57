import { listScimGroups } from "../../directory/provisioning/scim-groups.ts";
import { GROUPS } from "../../wire/scim/resource-types.ts";
import type { ScimAnswer, ScimExchange } from "./exchange.ts";
import { listDocument } from "./discovery.ts";
import { groupResource } from "./groups.ts";
import { listQuery } from "./list-query.ts";
import { asksForMembers, shownAttributes } from "./shown-attributes.ts";

export async function listedScimGroups({ caller, directory, query, base }: ScimExchange): Promise<ScimAnswer> {
  const { condition, startIndex, page } = listQuery(GROUPS, query);
  const withMembers = asksForMembers(query);
  const { items, total } = await listScimGroups(directory, caller, condition, page, withMembers);
  const resources = items.map((group) => shownAttributes(groupResource(group, base, withMembers), query));
  return { status: 200, body: listDocument(resources, total, startIndex) };
}
