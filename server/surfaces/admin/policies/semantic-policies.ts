import {
  semanticPolicy,
  semanticPolicyCreate,
  semanticPolicyQuery,
  semanticPolicyTrial,
  semanticPolicyTrialResult,
  semanticPolicyUpdate,
} from "@gatehouse/contracts/semantic-policies";
import { semanticPolicies } from "../../../directory/semantic-policies/policies.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, resource } from "../resource.ts";

const PATH = "/v1/admin/semantic-policies";

export const semanticPolicyOperations: readonly AdminOperation[] = [
  ...resource({
    path: PATH,
    key: "semantic_policies",
    noun: "semantic policy",
    tag: "Semantic policies",
    area: "policies",
    table: "semantic_policies",
    records: semanticPolicies,
    query: semanticPolicyQuery,
    create: semanticPolicyCreate,
    update: semanticPolicyUpdate,
    read: semanticPolicy,
    notes: { create: "A model judges texts by the rule. Saving grants the judge to the policy's groups, hidden from the portal's picker." },
  }),
  operation({
    tag: "Semantic policies",
    access: "policies:write",
    reach: "one",
    method: "POST",
    path: `${PATH}/{id}/test`,
    subject: "semantic_policies",
    summary: "Try a semantic policy on a text",
    description:
      "Asks the judge as it would be asked for a call: that has a row and costs what it costs. A policy that is switched off, or in " +
      "shadow mode, is judged all the same; `action` says what would become of a call.",
    body: semanticPolicyTrial,
    answer: { status: 200, about: "What the judge says", schema: semanticPolicyTrialResult },
    run: async (call) => call.services.tryPolicy(await semanticPolicies.get(call.services.directory, call.tenantId, idOf(call)), call.body),
  }),
];
