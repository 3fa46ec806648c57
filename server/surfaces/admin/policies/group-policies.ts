import {
  consumption,
  effectiveLimits,
  governancePatch,
  llmGlobalLimitsPatch,
  llmLimitsPatch,
  llmLimitsState,
  mcpGlobalLimitsPatch,
  mediaGovernancePatch,
  policyPreview,
  policyStateOf,
  runCeilingsPatch,
  skillGlobalLimitsPatch,
  toolLimitsPatch,
  webSearchPatch,
} from "@gatehouse/contracts/limits";
import type { z } from "zod";
import { consumptionOf } from "../../../directory/limits/consumption.ts";
import {
  effectiveLimitsOf,
  readLlmLimits as llmState,
  readPolicyState as stateOf,
  readPolicyTree,
  replacePolicy,
  type PolicyOf,
} from "../../../directory/limits/group-policies.ts";
import { previewPolicy } from "../../../directory/limits/preview-policy.ts";
import type { PolicyDocument, PolicyKind } from "../../../directory/limits/rules.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf } from "../resource.ts";

const GROUP = "/v1/admin/resource-groups/{id}";
const common = { tag: "Limits and governance", reach: "one", subject: "resource_groups" } as const;
const REPLACES =
  "Replaces the document whole: what the body leaves out sets nothing. A value looser than what is inherited is refused " +
  "with limit_exceeds_inherited, and nothing is changed.";

interface DocumentSpec {
  /** Relative to the group's path; a last segment in braces is the item it refines. */
  readonly path: string;
  readonly what: string;
  readonly kind: PolicyKind;
  readonly patch: z.ZodObject;
  /** The body member that holds the document. */
  readonly member: string;
  /** The path parameter with the item's ID, which is not a UUID for a tool server or skill. */
  readonly item?: { readonly param: string; readonly text: boolean };
}

/** GET, PATCH and preview of one document. The group's own LLM limits also return their capacity (interface 8.1). */
function documentOperations({ path, what, kind, patch, member, item }: DocumentSpec): AdminOperation[] {
  const own = kind === "llm_limits" && item === undefined;
  const answer = {
    status: 200,
    about: "What the group sets, what it inherits, and what is in force",
    schema: own ? llmLimitsState : policyStateOf(patch, member),
  };
  const params = item?.text === true ? { textParams: [item.param] } : {};
  const policyOf = (call: { readonly params: Readonly<Record<string, string>> }): PolicyOf => ({
    groupId: idOf(call),
    kind,
    ...(item === undefined ? {} : { itemId: call.params[item.param] ?? "" }),
  });
  return [
    operation({
      ...common,
      ...params,
      access: "limits:read",
      method: "GET",
      path: `${GROUP}/${path}`,
      summary: `Read ${what}`,
      answer,
      async run(call) {
        const of = policyOf(call);
        const tree = await readPolicyTree(call.services.directory, call.tenantId, of);
        return own ? llmState(tree, of.groupId) : stateOf(tree, of, member);
      },
    }),
    operation({
      ...common,
      ...params,
      access: "limits:write",
      method: "PATCH",
      path: `${GROUP}/${path}`,
      summary: `Replace ${what}`,
      description: own
        ? `${REPLACES} So is a quota beyond what the budget holder has not promised to others, with limit_exceeds_available.`
        : REPLACES,
      body: patch,
      answer,
      async run(call) {
        const of = policyOf(call);
        const document = (call.body as Record<string, unknown>)[member] as PolicyDocument;
        const tree = await call.write((write) => replacePolicy(write, call.tenantId, of, document));
        return own ? llmState(tree, of.groupId) : stateOf(tree, of, member);
      },
    }),
    operation({
      ...common,
      ...params,
      access: "limits:read",
      method: "POST",
      path: `${GROUP}/${path}/preview`,
      summary: `Preview what another document of ${what} would change`,
      description:
        "Takes the body of PATCH and refuses what PATCH would refuse. Returns the values that would change, in the group and those " +
        "below it, and the limits that present usage would already reach. Nothing is changed.",
      body: patch,
      answer: { status: 200, about: "What would change", schema: policyPreview },
      run: (call) =>
        previewPolicy(
          call.services.directory,
          call.tenantId,
          policyOf(call),
          (call.body as Record<string, unknown>)[member] as PolicyDocument,
        ),
    }),
  ];
}

export const groupPolicyOperations: readonly AdminOperation[] = [
  ...documentOperations({
    path: "llm-global-limits",
    what: "a group's LLM limits",
    kind: "llm_limits",
    patch: llmGlobalLimitsPatch,
    member: "llm_global_limits",
  }),
  ...documentOperations({
    path: "llm-global-governance",
    what: "a group's parameter governance",
    kind: "llm_governance",
    patch: governancePatch,
    member: "governance",
  }),
  ...documentOperations({
    path: "mcp-global-limits",
    what: "a group's tool-server limits",
    kind: "mcp_limits",
    patch: mcpGlobalLimitsPatch,
    member: "mcp_global_limits",
  }),
  ...documentOperations({
    path: "skill-global-limits",
    what: "a group's skill limits",
    kind: "skill_limits",
    patch: skillGlobalLimitsPatch,
    member: "skill_global_limits",
  }),
  ...documentOperations({
    path: "media-governance",
    what: "a group's media governance",
    kind: "media_governance",
    patch: mediaGovernancePatch,
    member: "media_governance",
  }),
  ...documentOperations({
    path: "run-ceilings",
    what: "a group's run ceilings",
    kind: "run_ceilings",
    patch: runCeilingsPatch,
    member: "run_ceilings",
  }),
  ...documentOperations({
    path: "web-search",
    what: "a group's rules for searching the web",
    kind: "web_search",
    patch: webSearchPatch,
    member: "web_search",
  }),
  ...documentOperations({
    path: "llm-models/{model_id}/limits",
    what: "a group's limits for one model",
    kind: "llm_limits",
    patch: llmLimitsPatch,
    member: "limits",
    item: { param: "model_id", text: false },
  }),
  ...documentOperations({
    path: "llm-models/{model_id}/governance",
    what: "a group's parameter governance for one model",
    kind: "llm_governance",
    patch: governancePatch,
    member: "governance",
    item: { param: "model_id", text: false },
  }),
  ...documentOperations({
    path: "mcp-servers/{server_id}/limits",
    what: "a group's limits for one tool server",
    kind: "mcp_limits",
    patch: toolLimitsPatch,
    member: "limits",
    item: { param: "server_id", text: true },
  }),
  ...documentOperations({
    path: "agent-skills/{skill_id}/limits",
    what: "a group's limits for one skill",
    kind: "skill_limits",
    patch: toolLimitsPatch,
    member: "limits",
    item: { param: "skill_id", text: true },
  }),
  operation({
    ...common,
    access: "limits:read",
    method: "GET",
    path: `${GROUP}/effective-limits`,
    summary: "Every limit and rule in force for a group",
    answer: { status: 200, about: "Each document after merging, and each refinement that reaches the group", schema: effectiveLimits },
    run: (call) => effectiveLimitsOf(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...common,
    access: "limits:read",
    method: "GET",
    path: `${GROUP}/consumption`,
    summary: "Usage of each quota that a group draws on",
    description:
      "The group's own quotas and those above it, with the groups that used them. From the usage totals, which lag calls by " +
      "less than a second.",
    answer: { status: 200, about: "Each quota with its use in the window that is open", schema: consumption },
    run: (call) => consumptionOf(call.services.directory, call.tenantId, idOf(call)),
  }),
];
