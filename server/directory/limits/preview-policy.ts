import type { PolicyPreview } from "@gatehouse/contracts/limits";
import { isDeepStrictEqual } from "node:util";
import type { Directory } from "../writes/write.ts";
import { consumptionIn } from "./consumption.ts";
import { planPolicy, type PlannedPolicy, type PolicyOf } from "./group-policies.ts";
import { documentOf, type Fields } from "./merge.ts";
import type { PolicyDocument } from "./rules.ts";

type Change = PolicyPreview["changes"][number];

const MOST_CHANGES = 500;

function changedFields(before: Fields, after: Fields): Pick<Change, "field" | "before" | "after">[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((field) => !isDeepStrictEqual(before.get(field), after.get(field)))
    .map((field) => ({ field, before: before.get(field) ?? null, after: after.get(field) ?? null }));
}

/** What would be in force otherwise than now, in the group and below it, of single items only where it is not the same as of all. */
function changesOf({ before, after, itemId }: PlannedPolicy, { groupId, kind }: PolicyOf): Change[] {
  const items = itemId === "" ? ["", ...new Set([...before.itemsOf(kind), ...after.itemsOf(kind)])] : [itemId];
  return after.branch(groupId).flatMap((node) => {
    const ofAll = new Set<string>();
    return items.flatMap((item) =>
      changedFields(before.effective(node.id, kind, item), after.effective(node.id, kind, item))
        .filter((change) => {
          const told = JSON.stringify(change);
          if (item === "") ofAll.add(told);
          return item === "" || !ofAll.has(told);
        })
        .map((change) => ({ group_id: node.id, group_name: node.name, item_id: item === "" ? null : item, ...change })),
    );
  });
}

/** What a document would come to before it is saved. Refuses what saving it would refuse, and changes nothing. */
export async function previewPolicy(
  directory: Directory,
  tenantId: string,
  of: PolicyOf,
  document: PolicyDocument,
): Promise<PolicyPreview> {
  const planned = await planPolicy(directory.db, tenantId, of, document);
  const changes = changesOf(planned, of);
  const used = of.kind === "llm_limits" ? (await consumptionIn(directory, tenantId, planned.after, of.groupId)).limits : [];
  return {
    effective: documentOf(planned.after.effective(of.groupId, of.kind, planned.itemId)) as Record<string, unknown>,
    changes: changes.slice(0, MOST_CHANGES),
    changes_total: changes.length,
    spent: used
      .filter((limit) => !limit.inherited && limit.utilization_percent >= 100 && limit.model_id === (of.itemId ?? null))
      .map(({ limit_type, current, limit, blocks, resets_at }) => ({ limit_type, current, limit, blocks, resets_at })),
  };
}
