import {
  argumentPolicy,
  argumentPolicyCreate,
  argumentPolicyGroups,
  argumentPolicyGroupsQuery,
  argumentPolicyQuery,
  argumentPolicyTrial,
  argumentPolicyTrialResult,
  argumentPolicyUpdate,
  maybeArgumentPolicyGroups,
} from "@gatehouse/contracts/argument-policies";
import { bindingResult, unbindingResult } from "@gatehouse/contracts/group-models";
import { argumentPolicies, bindArgumentPolicy, unbindArgumentPolicy } from "../../../directory/policies/argument-policies.ts";
import { checkStoredPolicy } from "../../../controls/argument-policies/stored-policy.ts";
import { tryArgumentPolicy } from "../../../controls/argument-policies/trial.ts";
import { idsToUnbind } from "../ids-to-unbind.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, resource } from "../resource.ts";

const PATH = "/v1/admin/argument-policies";
const TAG = "Argument policies";
const policies = argumentPolicies(checkStoredPolicy);
const writing = { tag: TAG, access: "policies:write", reach: "one", subject: "argument_policies" } as const;

export const argumentPolicyOperations: readonly AdminOperation[] = [
  ...resource({
    path: PATH,
    key: "argument_policies",
    noun: "argument policy",
    article: "an",
    tag: TAG,
    area: "policies",
    table: "argument_policies",
    records: policies,
    query: argumentPolicyQuery,
    create: argumentPolicyCreate,
    update: argumentPolicyUpdate,
    read: argumentPolicy,
    notes: {
      create:
        "Judges the arguments of the calls that models generate to one tool, before the caller gets them. Holds for the groups " +
        "it is bound to and those below them.",
      update: "Members left out of the body stay unchanged. Another analyzer drops what belonged to the one before.",
    },
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${PATH}/{id}/groups`,
    summary: "Bind an argument policy to groups",
    description:
      "Adds the groups; if all are bound already, 409 already_bound. A policy that applied to every group then applies only to the " +
      "bound ones.",
    body: argumentPolicyGroups,
    answer: { status: 200, about: "What was bound", schema: bindingResult },
    run: (call) => call.write((write) => bindArgumentPolicy(write, call.tenantId, idOf(call), call.body.group_ids)),
  }),
  operation({
    ...writing,
    method: "DELETE",
    path: `${PATH}/{id}/groups`,
    summary: "Unbind an argument policy from groups",
    description:
      "Send the IDs in the body or in the query. If none of them is bound, 404 not_bound. A policy without any group applies to nobody.",
    query: argumentPolicyGroupsQuery,
    body: maybeArgumentPolicyGroups,
    answer: { status: 200, about: "What was unbound", schema: unbindingResult },
    run(call) {
      const { group_ids: ids } = idsToUnbind(argumentPolicyGroups, "group_ids", call.query.group_ids, call.body);
      return call.write((write) => unbindArgumentPolicy(write, call.tenantId, idOf(call), ids));
    },
  }),
  operation({
    tag: TAG,
    access: "policies:read",
    reach: "one",
    method: "POST",
    path: `${PATH}/{id}/test`,
    subject: "argument_policies",
    summary: "Try an argument policy on the arguments of a call",
    description: "Says what would happen to the call. Nothing is recorded. A disabled policy is tried as if it were enabled.",
    body: argumentPolicyTrial,
    answer: { status: 200, about: "What it says of the call", schema: argumentPolicyTrialResult },
    run: async (call) => tryArgumentPolicy(await policies.get(call.services.directory, call.tenantId, idOf(call)), call.body.arguments),
  }),
];
