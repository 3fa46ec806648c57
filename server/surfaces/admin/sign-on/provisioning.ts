import { listOf } from "@gatehouse/contracts/conventions";
import {
  type MintedScimToken,
  mintedScimToken,
  provisioningEntry,
  provisioningQuery,
  scimToken,
  scimTokenCreate,
  scimTokenQuery,
  scimTokenUpdate,
} from "@gatehouse/contracts/provisioning";
import { listProvisioningLog } from "../../../directory/provisioning/list-provisioning-log.ts";
import {
  createScimToken,
  getScimToken,
  listScimTokens,
  revokeScimToken,
  updateScimToken,
} from "../../../directory/provisioning/scim-tokens.ts";
import { type AdminOperation, operation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const PATH = "/v1/admin/scim-tokens";
const ONE = `${PATH}/{id}`;
const tag = "Provisioning";
const reading = { tag, access: "users:read", reach: "one" } as const;
const writing = { tag, access: "users:write", reach: "one" } as const;

/** Removes the token itself. */
function record(answer: unknown): unknown {
  const { token: _token, ...rest } = answer as MintedScimToken;
  return rest;
}

export const provisioningOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    method: "GET",
    path: PATH,
    summary: "List provisioning tokens",
    query: scimTokenQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("scim_tokens", scimToken) },
    run: (call) => listed("scim_tokens", call, (page) => listScimTokens(call.services.directory, call.tenantId, page)),
  }),
  operation({
    ...writing,
    method: "POST",
    path: PATH,
    summary: "Create a provisioning token",
    description:
      "A directory uses it to provision people and groups at /scim/v2. The token is shown only in this answer. Several tokens of " +
      "one directory may be valid at the same time.",
    body: scimTokenCreate,
    answer: { status: 201, about: "The record made, with the token", schema: mintedScimToken, record },
    run: (call) => call.write((write) => createScimToken(write, call.tenantId, call.body)),
  }),
  operation({
    ...reading,
    method: "GET",
    path: ONE,
    subject: "scim_tokens",
    summary: "Read a provisioning token",
    answer: { status: 200, about: "The record", schema: scimToken },
    run: (call) => getScimToken(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...writing,
    method: "PATCH",
    path: ONE,
    subject: "scim_tokens",
    summary: "Change a provisioning token",
    body: scimTokenUpdate,
    answer: { status: 200, about: "The record as it is now", schema: scimToken },
    run: (call) => call.write((write) => updateScimToken(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...writing,
    method: "DELETE",
    path: ONE,
    subject: "scim_tokens",
    summary: "Revoke a provisioning token",
    description: "Permanently: its next request is refused. The people and groups it created stay.",
    answer: { status: 200, about: "The record, revoked", schema: scimToken },
    run: (call) => call.write((write) => revokeScimToken(write, call.tenantId, idOf(call))),
  }),
  operation({
    ...reading,
    method: "GET",
    path: "/v1/admin/provisioning-log",
    summary: "List what directories did",
    description: "Newest first: each change, each conflict and each refusal, by the names of attributes and never by their values.",
    query: provisioningQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("entries", provisioningEntry) },
    run: (call) => listed("entries", call, (page) => listProvisioningLog(call.services.directory, call.tenantId, call.query, page)),
  }),
];
