import type { Stamp } from "./columns.ts";

/** Which row reports which part of the cost of an agent's task, until that row is known to be stored. */
export interface AgentCostClaimTable {
  tenant_id: string;
  agent_id: string;
  task_id: string;
  row_id: string;
  micros: number;
  claimed_at: Stamp;
  look_at: Stamp;
}
