import type { AgentTasks, DueCost } from "../../directory/agents/tasks.ts";
import type { Snapshots } from "../../directory/snapshots.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import type { BackgroundCalls } from "../../road/own-calls/background-calls.ts";
import type { JobBudgets } from "../../road/call-limits.ts";

export interface UnheardCostParts {
  readonly tasks: Pick<AgentTasks, "takeDueCosts" | "claimCost" | "settleCostClaims">;
  readonly calls: Pick<BackgroundCalls, "recordEvent">;
  readonly budgets: JobBudgets;
  readonly snapshots: Pick<Snapshots, "tenant" | "scope">;
  readonly clock: Clock;
  readonly log: Log;
}

const AT_ONCE = 32;
const LEASE_MS = 30_000;
const CLAIMS_AT_ONCE = 200;

/**
 * Writes audit rows for task costs that no call received. Each amount is recorded exactly once, whichever process watches or dies: the
 * row's ID is stored with the task after the begin marker and before the row. Only `settleCostClaims`, which finds the row in the database,
 * ends that claim or has another row record the cost: not even the process that wrote the row knows whether it is there for good.
 */
export async function recordUnheardCosts(parts: UnheardCostParts): Promise<void> {
  const { tasks, log } = parts;
  await tasks.settleCostClaims(CLAIMS_AT_ONCE);
  const due = await tasks.takeDueCosts(AT_ONCE, LEASE_MS);
  await Promise.all(
    due.map((task) =>
      writeCostRow(parts, task).catch((error: Error) =>
        log.warn("agent_cost_not_recorded", { tenant_id: task.tenant_id, agent_id: task.agent_id, error }),
      ),
    ),
  );
}

async function writeCostRow(parts: UnheardCostParts, task: DueCost): Promise<void> {
  const { tasks, calls, budgets, snapshots, clock, log } = parts;
  const { tenant_id: tenantId, resource_group_id: groupId, root_task_id: rootTaskId, micros } = task;
  const agent = (await snapshots.tenant(tenantId))?.agents.byId.get(task.agent_id);
  const isPersons = task.owner_kind === "user";
  const holdId = `${task.agent_id}/${task.id}/cost`;
  // Taken before the row exists, so that counters that load their totals from rows do not count its cost twice.
  const scope = await snapshots.scope(tenantId, groupId);
  if (scope !== null)
    await budgets
      .hold(holdId, { scope, model: null, rootTaskId, micros: 0, tokens: 0, at: clock.now() }, null)
      .catch((error: Error) => log.warn("agent_cost_not_counted", { tenant_id: tenantId, error }));
  let isReported = false;
  try {
    isReported = await calls.recordEvent(
      {
        audit: { proxyType: "a2a", proxySubtype: "task_cost" },
        path: `/a2a/${tenantId}/${agent?.cardName ?? task.agent_id}/tasks/${encodeURIComponent(task.id)}`,
        headers: new Headers(),
        ip: "",
        parentId: task.request_id ?? rootTaskId,
        rootTaskId,
        noted: { a2a_task_id: task.id.slice(0, 200) },
        fields: { server_id: task.agent_id, llm_estimated_cost_usd: usdFromMicros(micros) },
        claim: (id) => tasks.claimCost(task, id, micros),
      },
      { tenantId, groupId, keyId: isPersons ? null : task.owner_id, userId: isPersons ? task.owner_id : null },
      { status: 200, errorType: null, errorMessage: null },
    );
  } finally {
    await budgets
      .settle(holdId, isReported ? micros : 0)
      .catch((error: Error) => log.warn("agent_cost_not_counted", { tenant_id: tenantId, error }));
  }
}
