import {
  changeScimGroup,
  createScimGroup,
  deleteScimGroup,
  getScimGroup,
  listScimGroups,
  type StoredGroup,
} from "../../directory/provisioning/scim-groups.ts";
import { isUuid } from "../../kernel/ids.ts";
import { readPatch } from "../../wire/scim/patch.ts";
import { GROUPS } from "../../wire/scim/resource-types.ts";
import { ScimError } from "../../wire/scim/scim-error.ts";
import { notAllowed, type ScimAnswer, type ScimExchange } from "./exchange.ts";
import { listDocument } from "./discovery.ts";
import { groupChange, groupOf, groupResource } from "./groups.ts";
import { listQuery } from "./list-query.ts";
import { asksForMembers, shownAttributes } from "./shown-attributes.ts";
import { versionTag } from "./people.ts";

export async function groupEndpoint(exchange: ScimExchange, method: string): Promise<ScimAnswer> {
  const { id, caller } = exchange;
  if (id === undefined) {
    if (method === "GET") return list(exchange);
    if (method === "POST") return create(exchange);
    throw notAllowed("GET, POST");
  }
  if (!["GET", "PUT", "PATCH", "DELETE"].includes(method)) throw notAllowed("GET, PUT, PATCH, DELETE");
  if (!isUuid(id)) throw new ScimError(404, "There is no such group.");
  if (method === "GET") return answered(exchange, 200, await read(exchange, id));
  if (method === "DELETE") {
    await exchange.write((write) => deleteScimGroup(write, caller, id, exchange.asked()));
    return { status: 204 };
  }
  const body = await exchange.body();
  if (method === "PATCH") {
    const change = groupChange(readPatch(GROUPS, body, exchange.ignore), exchange.ignore);
    await exchange.write((write) => changeScimGroup(write, caller, id, change, exchange.asked()));
    return { status: 204 };
  }
  const { displayName, externalId, memberIds } = groupOf(body, exchange.ignore);
  const members = memberIds === undefined ? [] : [{ op: "set", ids: memberIds } as const];
  await exchange.write((write) => changeScimGroup(write, caller, id, { displayName, externalId, members }, exchange.asked()));
  return answered(exchange, 200, await read(exchange, id));
}

const read = ({ directory, caller, query }: ScimExchange, id: string): Promise<StoredGroup> =>
  getScimGroup(directory, caller, id, asksForMembers(query));

function answered({ base, query }: ScimExchange, status: number, group: StoredGroup): ScimAnswer {
  const location = `${base}/Groups/${group.id}`;
  return {
    status,
    body: shownAttributes(groupResource(group, base, asksForMembers(query)), query),
    headers: { etag: versionTag(group.version), location },
  };
}

async function list({ caller, directory, query, base }: ScimExchange): Promise<ScimAnswer> {
  const { condition, startIndex, page } = listQuery(GROUPS, query);
  const withMembers = asksForMembers(query);
  const { items, total } = await listScimGroups(directory, caller, condition, page, withMembers);
  const resources = items.map((group) => shownAttributes(groupResource(group, base, withMembers), query));
  return { status: 200, body: listDocument(resources, total, startIndex) };
}

async function create(exchange: ScimExchange): Promise<ScimAnswer> {
  const group = groupOf(await exchange.body(), exchange.ignore);
  const made = await exchange.write((write) =>
    createScimGroup(write, exchange.caller, { ...group, memberIds: group.memberIds ?? [] }, exchange.asked()),
  );
  return answered(exchange, 201, made);
}
