import { scimGroupMembers, type StoredGroup } from "../../directory/provisioning/scim-groups.ts";
import type { ScimAnswer, ScimExchange } from "./exchange.ts";
import { groupResource, memberResources } from "./groups.ts";
import { shownAttributes } from "./shown-attributes.ts";

type Document = Record<string, unknown>;

/**
 * Streams a response with a group that has many members; `documentOf` must put the group last. Members are read and serialised while they
 * are sent, so no group is too large and no reader too slow.
 */
export function withManyMembers(
  { base, query, caller, directory }: ScimExchange,
  group: StoredGroup,
  documentOf: (resource: Document) => Document,
): Pick<ScimAnswer, "body" | "pieces"> {
  const resource = shownAttributes(groupResource(group, base, false), query);
  const shown = (members: ReturnType<typeof memberResources>) => shownAttributes({ schemas: [], id: "", members }, query).members;
  if (shown(memberResources([{ id: group.id, display: "" }], base)) === undefined) return { body: documentOf(resource) };
  const text = JSON.stringify(documentOf({ ...resource, members: [] }));
  const at = text.lastIndexOf("[]") + 1;
  async function* pieces() {
    const encoder = new TextEncoder();
    let before = text.slice(0, at);
    for await (const members of scimGroupMembers(directory, caller, group.id)) {
      yield encoder.encode(before + JSON.stringify(shown(memberResources(members, base))).slice(1, -1));
      before = ",";
    }
    yield encoder.encode((before === "," ? "" : before) + text.slice(at));
  }
  return { pieces: pieces() };
}
