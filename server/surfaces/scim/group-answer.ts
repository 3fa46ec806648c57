import type { StoredGroup } from "../../directory/provisioning/scim-groups.ts";
import type { ScimAnswer, ScimExchange } from "./exchange.ts";
import { groupResource } from "./groups.ts";
import { asksForMembers, shownAttributes } from "./shown-attributes.ts";
import { versionTag } from "./people.ts";

export function scimGroupAnswer({ base, query }: ScimExchange, status: number, group: StoredGroup): ScimAnswer {
  const location = `${base}/Groups/${group.id}`;
  return {
    status,
    body: shownAttributes(groupResource(group, base, asksForMembers(query)), query),
    headers: { etag: versionTag(group.version), location },
  };
}
