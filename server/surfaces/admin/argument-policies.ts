import { argumentPolicy, argumentPolicyCreate, argumentPolicyGroups, argumentPolicyQuery, argumentPolicyUpdate } from "@gatehouse/contracts/argument-policies";
import { argumentPolicies } from "../../directory/policies/argument-policies.ts";
import { problemsOfPolicy } from "../../governance/argument-policies/tool-call-policies.ts";
import { operation, type Operation } from "./operation.ts";
import { idOf, resource } from "./resource.ts";

const PATH = "/v1/admin/argument-policies";
const policies = argumentPolicies(problemsOfPolicy);
const binding = { tag: "Argument policies", access: "policies:write", reach: "one", path: `${PATH}/{id}/groups`, subject: "argument_policies", body: argumentPolicyGroups } as const;

export const argumentPolicyOperations: readonly Operation[] = [
  ...resource({
    path: PATH,
    key: "argument_policies",
    noun: "argument policy",
    article: "an",
    tag: "Argument policies",
    area: "policies",
    table: "argument_policies",
    records: policies,
    query: argumentPolicyQuery,
    create: argumentPolicyCreate,
    update: argumentPolicyUpdate,
    read: argumentPolicy,
    notes: { create: "It judges the calls of the named tool that models make for the groups it is bound to. A new policy that names no group_ids is bound to none." },
  }),
  operation({
    ...binding,
    method: "POST",
    summary: "Bind an argument policy to groups",
    description: "409 already_bound when it holds for all of them already.",
    answer: { status: 200, about: "The policy as it is now", schema: argumentPolicy },
    run: (call) => call.write((write) => policies.bind(write, call.tenantId, idOf(call), call.body.group_ids)),
  }),
  operation({
    ...binding,
    method: "DELETE",
    summary: "Unbind an argument policy from groups",
    description: "404 not_bound when it is bound to none of them.",
    answer: { status: 200, about: "The policy as it is now", schema: argumentPolicy },
    run: (call) => call.write((write) => policies.unbind(write, call.tenantId, idOf(call), call.body.group_ids)),
  }),
];
