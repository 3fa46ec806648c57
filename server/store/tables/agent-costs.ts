import type { Stamp } from "./columns.ts";

/** Which row tells what part of the cost of an agent's task, until it is known to be there. */
export interface AgentCostClaimTable {
  tenant_id: string;
  agent_id: string;
  task_id: string;
  row_id: string;
  micros: number;
  claimed_at: Stamp;
  look_at: Stamp;
}
