import { listOf } from "@gatehouse/contracts/conventions";
import { routingGroup, routingGroupCreate, routingGroupQuery, routingGroupUpdate } from "@gatehouse/contracts/routing-groups";
import { routingGroups } from "../../../directory/models/routing-groups.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const PATH = "/v1/admin/llm-router/routing-groups";
// The ID is a slug that other tenants may use too, so a system admin must name the tenant.
const ONE = { path: `${PATH}/{id}`, textParams: ["id"] } as const;
const reading = { tag: "Routing groups", access: "models:read", reach: "one" } as const;
const writing = { tag: "Routing groups", access: "models:write", reach: "one" } as const;

export const routingGroupOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    method: "GET",
    path: PATH,
    summary: "List routing groups",
    query: routingGroupQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("routing_groups", routingGroup) },
    run: (call) => listed("routing_groups", call, (page) => routingGroups.list(call.services.directory, call.tenantId, call.query, page)),
  }),
  operation({
    ...writing,
    method: "POST",
    path: PATH,
    summary: "Create a routing group",
    description:
      "A virtual model: callers put its id or its name in `model`, and one of its members serves the call. Models become " +
      "members by their routing_group_id. " +
      "Neither its id nor its name may be that of a model or of another group. It widens no access: a member serves only " +
      "callers it is granted to.",
    body: routingGroupCreate,
    answer: { status: 201, about: "The record made", schema: routingGroup },
    run: (call) => call.write((write) => routingGroups.create(write, call.tenantId, call.body)),
  }),
  operation({
    ...reading,
    ...ONE,
    method: "GET",
    summary: "Read a routing group",
    answer: { status: 200, about: "The record", schema: routingGroup },
    run: (call) => routingGroups.get(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...writing,
    ...ONE,
    method: "PATCH",
    summary: "Change a routing group",
    description: "Members left out of the body stay unchanged.",
    body: routingGroupUpdate,
    answer: { status: 200, about: "The record as it is now", schema: routingGroup },
    run: (call) => call.write((write) => routingGroups.update(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...writing,
    ...ONE,
    method: "DELETE",
    summary: "Delete a routing group",
    description: "Refused with in_use while it has members.",
    answer: { status: 204, about: "Gone" },
    run: (call) => call.write((write) => routingGroups.remove(write, call.tenantId, idOf(call))),
  }),
];
