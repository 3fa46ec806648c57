import type { PolicyPreview } from "@gatehouse/contracts/limits";
import { inTurns } from "../../kernel/scheduling/in-turns.ts";
import type { Directory } from "../writes/write.ts";
import { consumptionIn } from "./consumption.ts";
import { planPolicy, type PolicyOf } from "./group-policies.ts";
import { documentOf } from "./merge.ts";
import { policyChanges } from "./policy-changes.ts";
import type { PolicyDocument } from "./rules.ts";

const MAX_CHANGES = 500;

/** The effect of a document before it is saved. Refuses whatever saving it would refuse, and changes nothing. */
export async function previewPolicy(
  directory: Directory,
  tenantId: string,
  of: PolicyOf,
  document: PolicyDocument,
): Promise<PolicyPreview> {
  const planned = await planPolicy(directory.db, tenantId, of, document);
  const { changes, total } = await inTurns(policyChanges(planned, of, MAX_CHANGES), { took: () => undefined });
  const used = of.kind === "llm_limits" ? (await consumptionIn(directory, tenantId, planned.after, of.groupId)).limits : [];
  return {
    effective: documentOf(planned.after.effective(of.groupId, of.kind, planned.itemId)) as Record<string, unknown>,
    changes,
    changes_total: total,
    spent: used
      .filter((limit) => !limit.inherited && limit.utilization_percent >= 100 && limit.model_id === (of.itemId ?? null))
      .map(({ limit_type, current, limit, blocks, resets_at }) => ({ limit_type, current, limit, blocks, resets_at })),
  };
}
