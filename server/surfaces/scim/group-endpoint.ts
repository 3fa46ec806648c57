import {
  changeScimGroup,
  createScimGroup,
  deleteScimGroup,
  getScimGroup,
  type StoredGroup,
} from "../../directory/provisioning/scim-groups.ts";
import { isUuid } from "../../kernel/ids.ts";
import { readPatch } from "../../wire/scim/patch-operations.ts";
import { GROUPS } from "../../wire/scim/resource-types.ts";
import { ScimError } from "../../wire/scim/scim-error.ts";
import { notAllowed, type ScimAnswer, type ScimExchange } from "./exchange.ts";
import { scimGroupAnswer } from "./group-answer.ts";
import { groupChange, groupOf } from "./groups.ts";
import { listedScimGroups } from "./list-groups.ts";
import { asksForMembers } from "./shown-attributes.ts";

export async function groupEndpoint(exchange: ScimExchange, method: string): Promise<ScimAnswer> {
  const { id, caller } = exchange;
  if (id === undefined) {
    if (method === "GET") return listedScimGroups(exchange);
    if (method === "POST") return create(exchange);
    throw notAllowed("GET, POST");
  }
  if (!["GET", "PUT", "PATCH", "DELETE"].includes(method)) throw notAllowed("GET, PUT, PATCH, DELETE");
  if (!isUuid(id)) throw new ScimError(404, "There is no such group.");
  if (method === "GET") return scimGroupAnswer(exchange, 200, await read(exchange, id));
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
  return scimGroupAnswer(exchange, 200, await read(exchange, id));
}

const read = ({ directory, caller, query }: ScimExchange, id: string): Promise<StoredGroup> =>
  getScimGroup(directory, caller, id, asksForMembers(query));

async function create(exchange: ScimExchange): Promise<ScimAnswer> {
  const group = groupOf(await exchange.body(), exchange.ignore);
  const made = await exchange.write((write) =>
    createScimGroup(write, exchange.caller, { ...group, memberIds: group.memberIds ?? [] }, exchange.asked()),
  );
  return scimGroupAnswer(exchange, 201, made);
}
