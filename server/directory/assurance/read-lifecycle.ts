import type { Lifecycle, LifecycleState, Requirement } from "@gatehouse/contracts/ai-systems";
import type { AiSystemRow } from "../../store/assurance/ai-systems.ts";
import type { Database, Trx } from "../../store/database.ts";
import type { Directory } from "../writes/write.ts";
import { foundSystem } from "./ai-systems.ts";
import { requirementsOf } from "./lifecycle-requirements.ts";
import { nextStates } from "./lifecycle-states.ts";

export async function lifecycleOf(db: Database | Trx, row: AiSystemRow, now: Date): Promise<Lifecycle> {
  const state = row.lifecycle_state as LifecycleState;
  const transitions: Lifecycle["transitions"] = [];
  for (const to of nextStates(state)) {
    const requirements: Requirement[] = await requirementsOf(db, row, to, now);
    transitions.push({ to, allowed: requirements.every(({ met }) => met), requirements });
  }
  return { state, since: row.lifecycle_since.toISOString(), transitions };
}

/** The current state, and the requirements of each state that can follow. */
export async function readLifecycle({ db, clock }: Directory, tenantId: string, id: string): Promise<Lifecycle> {
  return lifecycleOf(db, await foundSystem(db, tenantId, id), new Date(clock.now()));
}
