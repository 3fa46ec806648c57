import type { StoredGroup } from "../../directory/provisioning/scim-groups.ts";
import type { ScimAnswer, ScimExchange } from "./exchange.ts";
import { groupResource } from "./groups.ts";
import { withManyMembers } from "./many-members.ts";
import { asksForMembers, shownAttributes } from "./shown-attributes.ts";
import { versionTag } from "./people.ts";

export function scimGroupAnswer(exchange: ScimExchange, status: number, group: StoredGroup): ScimAnswer {
  const { base, query } = exchange;
  const headers = { etag: versionTag(group.version), location: `${base}/Groups/${group.id}` };
  if (group.members === "many") return { status, headers, ...withManyMembers(exchange, group, (resource) => resource) };
  return { status, headers, body: shownAttributes(groupResource(group, base, asksForMembers(query)), query) };
}
