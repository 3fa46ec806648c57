import { semanticPolicy, semanticPolicyCreate, semanticPolicyQuery, semanticPolicyUpdate } from "@gatehouse/contracts/semantic-policies";
import { semanticPolicies } from "../../directory/semantic-policies/policies.ts";
import { resource } from "./resource.ts";

export const semanticPolicyOperations = resource({
  path: "/v1/admin/semantic-policies",
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
});
