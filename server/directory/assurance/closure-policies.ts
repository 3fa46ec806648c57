import type { ContractClauses } from "@gatehouse/contracts/ai-contracts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { holdsFor } from "../policies/bound-groups.ts";
import { type ClosureReach, everything, byId, configurationDigest } from "./closure-parts.ts";

interface BoundPolicy {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly group_ids?: readonly string[] | null;
  readonly resource_group_ids?: readonly string[] | null;
}

export async function policiesIn<Policy extends BoundPolicy>(
  { chain }: ClosureReach,
  list: (page: Page) => Promise<Paged<Policy>>,
): Promise<ContractClauses["guardrails"]> {
  const all = await everything(list);
  return byId(
    all
      .filter((policy) => policy.enabled && holdsFor(policy.group_ids ?? policy.resource_group_ids ?? null, chain))
      .map((policy) => [policy.id, { name: policy.name, digest: configurationDigest(policy) }]),
  );
}
