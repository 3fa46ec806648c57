import {
  changeScimUser,
  createScimUser,
  deleteScimUser,
  getScimUser,
  listScimUsers,
  type StoredPerson,
} from "../../directory/provisioning/scim-users.ts";
import { isUuid } from "../../kernel/ids.ts";
import { readPatch } from "../../wire/scim/patch-operations.ts";
import { USERS } from "../../wire/scim/resource-types.ts";
import { ScimError } from "../../wire/scim/scim-error.ts";
import { notAllowed, type ScimAnswer, type ScimExchange } from "./exchange.ts";
import { listDocument } from "./discovery.ts";
import { listQuery } from "./list-query.ts";
import { shownAttributes } from "./shown-attributes.ts";
import { patchedPerson, personOf, personResource, versionTag } from "./people.ts";

export async function userEndpoint(exchange: ScimExchange, method: string): Promise<ScimAnswer> {
  const { id } = exchange;
  if (id === undefined) {
    if (method === "GET") return list(exchange);
    if (method === "POST") return create(exchange);
    throw notAllowed("GET, POST");
  }
  if (!["GET", "PUT", "PATCH", "DELETE"].includes(method)) throw notAllowed("GET, PUT, PATCH, DELETE");
  if (!isUuid(id)) throw new ScimError(404, "There is no such user.");
  if (method === "GET") return answered(exchange, 200, await getScimUser(exchange.directory, exchange.caller, id));
  if (method === "DELETE") {
    await exchange.write((write) => deleteScimUser(write, exchange.caller, id, exchange.asked()));
    return { status: 204 };
  }
  const body = await exchange.body();
  return method === "PUT" ? replace(exchange, id, body) : patch(exchange, id, body);
}

function answered({ base, query }: ScimExchange, status: number, person: StoredPerson): ScimAnswer {
  const location = `${base}/Users/${person.id}`;
  return { status, body: shownAttributes(personResource(person, base), query), headers: { etag: versionTag(person.version), location } };
}

async function list({ caller, directory, query, base }: ScimExchange): Promise<ScimAnswer> {
  const { condition, startIndex, page } = listQuery(USERS, query);
  const { items, total } = await listScimUsers(directory, caller, condition, page);
  const resources = items.map((person) => shownAttributes(personResource(person, base), query));
  return { status: 200, body: listDocument(resources, total, startIndex) };
}

async function create(exchange: ScimExchange): Promise<ScimAnswer> {
  const person = personOf(await exchange.body(), exchange.ignore);
  return answered(exchange, 201, await exchange.write((write) => createScimUser(write, exchange.caller, person, exchange.asked())));
}

async function replace(exchange: ScimExchange, id: string, body: Record<string, unknown>): Promise<ScimAnswer> {
  // Parsed before the person to be replaced is known, so that unknown attributes are recorded with the change.
  personOf(body, exchange.ignore);
  const next = (before: StoredPerson) => personOf(body, exchange.ignore, before);
  return answered(exchange, 200, await exchange.write((write) => changeScimUser(write, exchange.caller, id, next, exchange.asked())));
}

async function patch(exchange: ScimExchange, id: string, body: Record<string, unknown>): Promise<ScimAnswer> {
  const operations = readPatch(USERS, body, exchange.ignore);
  const next = (before: StoredPerson) => patchedPerson(before, operations, exchange.ignore);
  return answered(exchange, 200, await exchange.write((write) => changeScimUser(write, exchange.caller, id, next, exchange.asked())));
}
