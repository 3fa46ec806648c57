import type { LifecycleState } from "@gatehouse/contracts/ai-systems";

/** The lifecycle states that can follow each state. `retired` is final. */
const NEXT: Record<LifecycleState, readonly LifecycleState[]> = {
  registered: ["assessed", "suspended", "retired"],
  assessed: ["approved", "suspended", "retired"],
  approved: ["in_service", "suspended", "retired"],
  in_service: ["restricted", "suspended", "retired"],
  restricted: ["in_service", "suspended", "retired"],
  suspended: ["in_service", "retired"],
  retired: [],
};

export const nextStates = (state: LifecycleState): readonly LifecycleState[] => NEXT[state];
