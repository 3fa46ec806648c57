import { agentSkillStore } from "../../store/agents/agent-skills.ts";
import type { EffectiveLimits, LlmLimitsState, PolicyState } from "@gatehouse/contracts/limits";
import { RE2JS } from "re2js";
import { type FieldError, invalidFields, refuse, Refused } from "../../kernel/errors.ts";
import type { Database, Trx } from "../../store/database.ts";
import { removePoliciesOf, writePolicy } from "../../store/groups/group-policies.ts";
import { readPolicyRows } from "../../store/groups/group-policy-rows.ts";
import { knownMcpServers } from "../../store/tools/mcp-servers.ts";
import { knownModels } from "../../store/models/models.ts";
import { knownVirtualModels } from "../../store/models/routing-groups.ts";
import { lockTree } from "../../store/groups/resource-groups.ts";
import { invalidField, notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { quotaCapacityOf } from "./capacity.ts";
import { overcommittedQuotas } from "./overcommitted-quotas.ts";
import { documentOf, fieldsOf, loosenedFields } from "./merge.ts";
import type { PolicyTree } from "./policy-tree.ts";
import { policyTreeOf } from "./policy-rows.ts";
import { type PolicyDocument, type PolicyKind, POLICY_KINDS } from "./rules.ts";

const RESOURCE = "group-policies";
/** Matching a pattern takes up to one step per instruction and character. */
const MAX_PATTERN_INSTRUCTIONS = 1_200;

async function treeOf(db: Database | Trx, tenantId: string, groupId: string): Promise<PolicyTree> {
  const tree = policyTreeOf(await readPolicyRows(db, tenantId));
  if (tree.node(groupId) === undefined) throw notFound("resource group");
  return tree;
}

/** Identifies a document: its kind, and the model, server or skill that it refines. */
export interface PolicyOf {
  readonly groupId: string;
  readonly kind: PolicyKind;
  readonly itemId?: string;
}

/** The change that a document would make, once validated. */
export interface PlannedPolicy {
  readonly before: PolicyTree;
  readonly after: PolicyTree;
  /** The model, server or skill it refines; '' for the group's own document. */
  readonly itemId: string;
}

/**
 * The tenant's documents before and after replacing this one. Refuses a document that would loosen an inherited value or
 * overcommit a budget. Changes nothing.
 */
export async function planPolicy(db: Database | Trx, tenantId: string, of: PolicyOf, document: PolicyDocument): Promise<PlannedPolicy> {
  const rows = await readPolicyRows(db, tenantId);
  const before = policyTreeOf(rows);
  if (before.node(of.groupId) === undefined) throw notFound("resource group");
  const itemId = await checkedItem(db, tenantId, of);
  const own = fieldsOf(document);
  refuseBadPatterns(own.get("system_prompt.banned_patterns") as string[] | undefined);
  const looser = loosenedFields(before.inherited(of.groupId, of.kind, itemId), own);
  if (looser.length > 0) throw limitRefusal("limit_exceeds_inherited", "This would loosen what is inherited", looser);
  const isReplaced = (row: (typeof rows.policies)[number]) => row.group_id === of.groupId && row.kind === of.kind && row.item_id === itemId;
  const planned = { group_id: of.groupId, kind: of.kind, item_id: itemId, document: documentOf(own) };
  const after = policyTreeOf({ ...rows, policies: [...rows.policies.filter((row) => !isReplaced(row)), planned] });
  if (of.kind === "llm_limits" && itemId === "") {
    const over = overcommittedQuotas(before, after, of.groupId);
    if (over.length > 0) throw limitRefusal("limit_exceeds_available", "This is more than the budget holder has left", over);
  }
  return { before, after, itemId };
}

/** Replaces a whole document, or refuses as `planPolicy` does and changes nothing. */
export async function replacePolicy(write: Write, tenantId: string, of: PolicyOf, document: PolicyDocument): Promise<PolicyTree> {
  await lockTree(write.trx, tenantId);
  const { before, after, itemId } = await planPolicy(write.trx, tenantId, of, document);
  const wanted = documentOf(after.ownFields(of.groupId, of.kind, itemId)) as Record<string, unknown>;
  await writePolicy(write.trx, tenantId, { group_id: of.groupId, kind: of.kind, item_id: itemId, document: wanted }, write.now);
  const shown = (tree: PolicyTree) => ({
    kind: of.kind,
    item_id: itemId === "" ? null : itemId,
    document: documentOf(tree.ownFields(of.groupId, of.kind, itemId)),
  });
  write.stay(shown(before), shown(after), after);
  write.log({
    tenant_id: tenantId,
    action: "update",
    resource: RESOURCE,
    resource_id: of.groupId,
    before: shown(before),
    after: shown(after),
  });
  write.notify(tenantId, "policy");
  return after;
}

const KINDS_OF_ITEMS = { model: ["llm_limits", "llm_governance"], "tool server": ["mcp_limits"], skill: ["skill_limits"] } satisfies Record<
  string,
  readonly PolicyKind[]
>;

/**
 * Removes the refinements of a deleted model, tool server or skill: nobody could edit them any more, yet they would still
 * restrict moves.
 */
export async function forgetItem(write: Write, tenantId: string, what: keyof typeof KINDS_OF_ITEMS, itemId: string): Promise<void> {
  await lockTree(write.trx, tenantId);
  await removePoliciesOf(write.trx, tenantId, KINDS_OF_ITEMS[what], itemId);
}

/** Refuses a move that would leave the branch with values looser than its new ancestors allow, or overcommit a quota. */
export async function checkMove(write: Write, tenantId: string, groupId: string, parentId: string | null): Promise<void> {
  const rows = await readPolicyRows(write.trx, tenantId);
  const before = policyTreeOf(rows);
  const after = policyTreeOf({
    ...rows,
    groups: rows.groups.map((group) => (group.id === groupId ? { ...group, parent_group_id: parentId } : group)),
  });
  const fields: FieldError[] = [];
  for (const node of after.branch(groupId)) {
    for (const kind of POLICY_KINDS) {
      for (const itemId of ["", ...after.refinedAt(node.id, kind)]) {
        const known = new Set(
          loosenedFields(before.inherited(node.id, kind, itemId), before.ownFields(node.id, kind, itemId)).map(({ field }) => field),
        );
        const looser = loosenedFields(after.inherited(node.id, kind, itemId), after.ownFields(node.id, kind, itemId)).filter(
          ({ field }) => !known.has(field),
        );
        const at = `${node.name}: ${kind}${itemId === "" ? "" : ` of ${itemId}`}: `;
        fields.push(...looser.map(({ field, message }) => ({ field: at + field, message })));
      }
    }
  }
  if (fields.length > 0)
    throw limitRefusal("limit_exceeds_inherited", "There the group would hold looser values than it would inherit", fields);
  const over = overcommittedQuotas(before, after, groupId);
  if (over.length > 0) throw limitRefusal("limit_exceeds_available", "There is not enough left of the budget it would draw on", over);
}

function limitRefusal(code: "limit_exceeds_inherited" | "limit_exceeds_available", words: string, fields: readonly FieldError[]): Refused {
  return new Refused(refuse(code, `${words}: ${fields.map(({ field, message }) => `${field} ${message}`).join("; ")}`, { fields }));
}

/** Usage is counted, and rules apply, at the member that serves a call. */
const OF_ROUTING_GROUP =
  "is that of a routing group: name one of its members, whose rules hold for calls that it serves for the group. The group's own caps " +
  "are its rpm_limit, tpm_limit and max_parallel_requests";

/** The validated item of a refinement. Models and tool servers must belong to the tenant; skill names are not checked. */
async function checkedItem(db: Database | Trx, tenantId: string, { kind, itemId }: PolicyOf): Promise<string> {
  if (itemId === undefined) return "";
  if ((kind === "llm_limits" || kind === "llm_governance") && !(await knownModels(db, tenantId, [itemId])).has(itemId)) {
    if ((await knownVirtualModels(db, tenantId, [itemId])).has(itemId)) throw invalidField("model_id", OF_ROUTING_GROUP);
    throw notFound("model");
  }
  if (kind === "mcp_limits" && !(await knownMcpServers(db, tenantId, [itemId])).has(itemId)) throw notFound("tool server");
  if (kind === "skill_limits" && (await agentSkillStore.find(db, tenantId, itemId)) === undefined) throw notFound("skill");
  return itemId;
}

function refuseBadPatterns(patterns: readonly string[] | undefined): void {
  const fields = (patterns ?? []).flatMap((pattern, i) => {
    try {
      const size = RE2JS.compile(pattern).programSize();
      if (size <= MAX_PATTERN_INSTRUCTIONS) return [];
      const message = `is too large a pattern: its counted repetitions make ${size} instructions, ${MAX_PATTERN_INSTRUCTIONS} are allowed`;
      return [{ field: `governance.system_prompt.banned_patterns.${i}`, message }];
    } catch (error) {
      return [{ field: `governance.system_prompt.banned_patterns.${i}`, message: `is no pattern of RE2: ${(error as Error).message}` }];
    }
  });
  if (fields.length > 0) throw invalidFields("invalid_body", fields);
}

const shape = (fields: ReturnType<typeof fieldsOf>): Record<string, unknown> => documentOf(fields) as Record<string, unknown>;

export function readLlmLimits(tree: PolicyTree, groupId: string): LlmLimitsState {
  return {
    group_id: groupId,
    llm_global_limits: shape(tree.ownFields(groupId, "llm_limits")),
    inherited_llm_limits: shape(tree.inherited(groupId, "llm_limits")),
    effective_llm_limits: shape(tree.effective(groupId, "llm_limits")),
    capacity: quotaCapacityOf(tree, groupId),
  };
}

/** `member`: the document's name in the body. */
export function readPolicyState(tree: PolicyTree, { groupId, kind, itemId = "" }: PolicyOf, member: string): PolicyState {
  const own = shape(tree.ownFields(groupId, kind, itemId));
  return {
    group_id: groupId,
    item_id: itemId === "" ? null : itemId,
    [member]: own,
    own,
    inherited: shape(tree.inherited(groupId, kind, itemId)),
    effective: shape(tree.effective(groupId, kind, itemId)),
  };
}

export async function readPolicyTree(directory: Directory, tenantId: string, of: PolicyOf): Promise<PolicyTree> {
  const tree = await treeOf(directory.db, tenantId, of.groupId);
  await checkedItem(directory.db, tenantId, of);
  return tree;
}

/** Every document in force for the group, with the refinements that apply to it. */
export async function effectiveLimitsOf(directory: Directory, tenantId: string, groupId: string): Promise<EffectiveLimits> {
  const tree = await treeOf(directory.db, tenantId, groupId);
  const line = [groupId, ...tree.above(groupId).map(({ id }) => id)];
  const refinements = POLICY_KINDS.flatMap((kind) =>
    [...tree.itemsOf(kind)]
      .filter((item) => line.some((id) => tree.ownFields(id, kind, item).size > 0))
      .map((item) => ({ kind, item_id: item, effective: shape(tree.effective(groupId, kind, item)) })),
  );
  return {
    group_id: groupId,
    llm_limits: shape(tree.effective(groupId, "llm_limits")),
    llm_governance: shape(tree.effective(groupId, "llm_governance")),
    mcp_limits: shape(tree.effective(groupId, "mcp_limits")),
    skill_limits: shape(tree.effective(groupId, "skill_limits")),
    media_governance: shape(tree.effective(groupId, "media_governance")) as EffectiveLimits["media_governance"],
    run_ceilings: shape(tree.effective(groupId, "run_ceilings")),
    web_search: shape(tree.effective(groupId, "web_search")) as EffectiveLimits["web_search"],
    refinements,
  };
}
