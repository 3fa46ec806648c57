import {
  apiKey,
  apiKeyCreate,
  apiKeyQuery,
  apiKeyRotate,
  apiKeyUpdate,
  groupApiKeyQuery,
  mintedApiKey,
  type MintedApiKey,
} from "@gatehouse/contracts/api-keys";
import { listOf } from "@gatehouse/contracts/conventions";
import { createApiKey, getApiKey, listApiKeys, revokeApiKey, rotateApiKey, updateApiKey } from "../../../directory/credentials/api-keys.ts";
import { refuse, Refused } from "../../../kernel/errors.ts";
import { resourceGroups } from "../../../directory/groups/resource-groups.ts";
import { type AdminCall, operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const PATH = "/v1/admin/api-keys";
const ONE = `${PATH}/{id}`;
const OF_GROUP = "/v1/admin/resource-groups/{id}/api-keys";
const page = { status: 200, about: "One page of them", schema: listOf("api_keys", apiKey) } as const;
const reading = { tag: "API keys", access: "keys:read", reach: "one" } as const;
const writing = { tag: "API keys", access: "keys:write", reach: "one" } as const;

/** Removes the key itself. */
function record(answer: unknown): unknown {
  const { key: _key, key_value: _value, full_key: _full, ...rest } = answer as MintedApiKey;
  return rest;
}

/** Refuses callers without `users:write`: a person's key gives access to everything of that person, and the records of calls name them. */
function guardPersonsKey({ admin }: Pick<AdminCall<unknown, unknown>, "admin">, endUserId: string | null | undefined): void {
  if (endUserId != null && !admin.permissions.has("users:write"))
    throw new Refused(refuse("forbidden", "Creating or rotating a person's key requires the permission users:write."));
}

export const apiKeyOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    method: "GET",
    path: OF_GROUP,
    subject: "resource_groups",
    summary: "List the API keys of a group",
    query: groupApiKeyQuery,
    answer: page,
    async run(call) {
      await resourceGroups.get(call.services.directory, call.tenantId, idOf(call));
      return listed("api_keys", call, (rows) =>
        listApiKeys(call.services.directory, call.tenantId, { ...call.query, resource_group_id: idOf(call) }, rows),
      );
    },
  }),
  operation({
    ...writing,
    method: "POST",
    path: OF_GROUP,
    subject: "resource_groups",
    summary: "Create an API key",
    description:
      "The key itself is shown only in this answer. An active key of the same name in the group is a 409. A person's key (`end_user_id`) " +
      "also requires `users:write`.",
    body: apiKeyCreate,
    answer: { status: 201, about: "The record made, with the key", schema: mintedApiKey, record },
    async run(call) {
      guardPersonsKey(call, call.body.end_user_id);
      return call.write((write) => createApiKey(write, call.tenantId, idOf(call), call.body));
    },
  }),
  operation({
    ...reading,
    method: "GET",
    path: PATH,
    summary: "List API keys",
    query: apiKeyQuery,
    answer: page,
    run: (call) => listed("api_keys", call, (rows) => listApiKeys(call.services.directory, call.tenantId, call.query, rows)),
  }),
  operation({
    ...reading,
    method: "GET",
    path: ONE,
    subject: "api_keys",
    summary: "Read an API key",
    answer: { status: 200, about: "The record, without the key", schema: apiKey },
    run: (call) => getApiKey(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...writing,
    method: "PATCH",
    path: ONE,
    subject: "api_keys",
    summary: "Change an API key",
    description: "Members left out of the body stay unchanged. Its scope and its owner cannot change.",
    body: apiKeyUpdate,
    answer: { status: 200, about: "The record as it is now", schema: apiKey },
    run: (call) => call.write((write) => updateApiKey(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...writing,
    method: "DELETE",
    path: ONE,
    subject: "api_keys",
    summary: "Revoke an API key",
    description: "Permanently, within a second on every process. The record stays.",
    answer: { status: 200, about: "The record as it is now", schema: apiKey },
    run: (call) => call.write((write) => revokeApiKey(write, call.tenantId, idOf(call))),
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${ONE}/rotate`,
    subject: "api_keys",
    summary: "Give an API key a new value",
    description:
      "The old value stays valid for the grace period, and each earlier one until its own ends. A key that is not active is a 409. " +
      "A person's key also requires `users:write`.",
    body: apiKeyRotate,
    once: true,
    answer: { status: 200, about: "The record as it is now, with the new key", schema: mintedApiKey, record },
    async run(call) {
      guardPersonsKey(call, (await getApiKey(call.services.directory, call.tenantId, idOf(call))).end_user_id);
      return call.write((write) => rotateApiKey(write, call.tenantId, idOf(call), call.body.grace_seconds ?? 0));
    },
  }),
];
