import { activeContract } from "../../store/assurance/ai-contracts.ts";
import { observationsOf } from "../../store/assurance/ai-observations.ts";
import { newestEpoch } from "../../store/assurance/baseline-epochs.ts";
import { type LifecycleCheck, lifecycleRequirement } from "./lifecycle-check.ts";
import { gateFor } from "./replay-runs.ts";

const DAY_MS = 86_400_000;
/** After this many days, a system with fewer calls than this cannot get a baseline. */
const LEARNED_WITHIN_DAYS = 30;
const MIN_CALLS = 200;

export const baselineKnown: LifecycleCheck = async ({ db, row, now }) => {
  const title = "What is normal for it is known, or being learned";
  const epoch = await newestEpoch(db, row.tenant_id, row.id);
  if (epoch !== undefined) return lifecycleRequirement("baseline", title, true, `Baseline epoch ${epoch.epoch} is frozen.`);
  const calls = (await observationsOf(db, row.tenant_id, row.id)).find(({ kind }) => kind === "call");
  if (calls === undefined)
    return lifecycleRequirement("baseline", title, true, `It is learned from its first call on, for ${LEARNED_WITHIN_DAYS} days at most.`);
  const until = new Date(calls.first_seen.getTime() + LEARNED_WITHIN_DAYS * DAY_MS);
  const met = now < until || calls.calls >= MIN_CALLS;
  const detail = met
    ? `It is learned until ${until.toISOString()} at the latest.`
    : `Learning ended ${until.toISOString()} with ${calls.calls} calls; ${MIN_CALLS} are needed.`;
  return lifecycleRequirement("baseline", title, met, detail);
};

export const replaysPassed: LifecycleCheck = async ({ db, row, now }) => {
  const title = "Replays speak for its contract";
  const active = await activeContract(db, row.tenant_id, row.id);
  const { verdict, reasons } = await gateFor(db, row.tenant_id, row.id, active?.digest ?? null, now);
  if (verdict === "no_suite") return lifecycleRequirement("replay_gate", title, true, "No replay suite is frozen.");
  if (verdict === "passed") return lifecycleRequirement("replay_gate", title, true, "The gate is passed for the contract in force.");
  const overridden = active?.gate_override ?? null;
  if (overridden !== null)
    return lifecycleRequirement("replay_gate", title, true, `The gate says ${verdict}, and ${overridden.admin ?? "somebody"} overrode it.`);
  return lifecycleRequirement(
    "replay_gate",
    title,
    false,
    `The gate says ${verdict}: ${reasons.join(" ")} Run the suite under the contract in force.`,
  );
};
