import type { Lifecycle, LifecycleAttempt, LifecycleState, Requirement } from "@gatehouse/contracts/ai-systems";
import { refuse, Refused } from "../../kernel/errors.ts";
import { aiSystemStore } from "../../store/assurance/ai-systems.ts";
import { sealRecord } from "../writes/sealed-record.ts";
import type { Write } from "../writes/write.ts";
import { AI_SYSTEMS, foundSystem, lockedSystem } from "./ai-systems.ts";
import { contractInForce } from "./contract-in-force.ts";
import { lifecycleOf } from "./read-lifecycle.ts";

/** Moves to another state, sealed in the admin log. Throws `illegal_transition` with the unmet requirements. */
export async function attemptTransition(write: Write, tenantId: string, id: string, { to, reason }: LifecycleAttempt): Promise<Lifecycle> {
  const row = await lockedSystem(write, tenantId, id);
  const before = await lifecycleOf(write.trx, row, write.now);
  const wanted = before.transitions.find((one) => one.to === to);
  if (wanted?.allowed !== true) throw new Refused(illegal(before, to, wanted?.requirements ?? []));
  await aiSystemStore.update(write.trx, id, { lifecycle_state: to, lifecycle_since: write.now, updated_at: write.now });
  const contract = await contractInForce(write.trx, tenantId, id);
  sealRecord(write, {
    tenantId,
    system: { ai_system_id: id, contract_version: contract?.version.toString() ?? null, contract_hash: contract?.digest ?? null },
    action: "transition",
    resource: AI_SYSTEMS,
    resource_id: id,
    before: { lifecycle_state: before.state },
    context: {
      record_type: "ai.gw.lifecycle-transition",
      from: before.state,
      to,
      reason,
      requirements: wanted.requirements.map((one) => one.id),
    },
  });
  write.notify(tenantId, "policy");
  return lifecycleOf(write.trx, await foundSystem(write.trx, tenantId, id), write.now);
}

function illegal({ state, transitions, since }: Lifecycle, to: LifecycleState, requirements: readonly Requirement[]) {
  const missing = requirements.filter(({ met }) => !met).map(({ title }) => title);
  const words =
    missing.length > 0
      ? `From ${state} to ${to} it still needs: ${missing.join("; ")}.`
      : `From ${state} it can go to ${transitions.map((one) => one.to).join(", ") || "nothing else"}, not to ${to}.`;
  return refuse("illegal_transition", words, {
    extra: { state, since, allowed: transitions.filter((one) => one.allowed).map((one) => one.to), transitions },
  });
}
