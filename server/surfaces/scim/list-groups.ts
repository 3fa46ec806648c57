import { listScimGroups } from "../../directory/provisioning/scim-groups.ts";
import { GROUPS } from "../../wire/scim/resource-types.ts";
import type { ScimAnswer, ScimExchange } from "./exchange.ts";
import { listDocument } from "./discovery.ts";
import { groupResource } from "./groups.ts";
import { listQuery } from "./list-query.ts";
import { withManyMembers } from "./many-members.ts";
import { asksForMembers, shownAttributes } from "./shown-attributes.ts";

export async function listedScimGroups(exchange: ScimExchange): Promise<ScimAnswer> {
  const { caller, directory, query, base } = exchange;
  const { condition, startIndex, page } = listQuery(GROUPS, query);
  const withMembers = asksForMembers(query);
  const { items, total } = await listScimGroups(directory, caller, condition, page, withMembers);
  const [first] = items;
  if (first?.members === "many")
    return { status: 200, ...withManyMembers(exchange, first, (resource) => listDocument([resource], total, startIndex)) };
  const resources = items.map((group) => shownAttributes(groupResource(group, base, withMembers), query));
  return { status: 200, body: listDocument(resources, total, startIndex) };
}
