import type { AgentTask, AgentTaskQuery } from "@gatehouse/contracts/agents";
import { statesOfTask } from "../../store/agents/agent-tasks.ts";
import { findListedTask, type ListedTask, taskPage } from "../../store/agents/listed-tasks.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { notFound } from "../writes/records.ts";
import type { Directory } from "../writes/write.ts";

function read(row: ListedTask, whole: boolean, states: AgentTask["states"] = []): AgentTask {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    agent_id: row.agent_id,
    card_name: row.card_name,
    context_id: row.context_id,
    resource_group_id: row.resource_group_id,
    owner_kind: row.owner_kind as AgentTask["owner_kind"],
    owner_id: row.owner_id,
    state: row.state,
    depth: Number(row.depth),
    root_task_id: row.root_task_id,
    protocol_version: row.protocol_version,
    push_configs: Number(row.push_configs),
    created_at: row.created_at.toISOString(),
    status_at: row.status_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    states,
    task: whole && row.task !== null ? (JSON.parse(row.task) as Record<string, unknown>) : null,
  };
}

/** Newest first. `ownerId` limits the list to one caller's tasks; null lists everyone's. */
export async function listAgentTasks(
  { db }: Pick<Directory, "db">,
  tenantId: string,
  filters: Pick<AgentTaskQuery, "agent_id" | "state" | "root_task_id">,
  ownerId: string | null,
  page: Page,
): Promise<Paged<AgentTask>> {
  const { items, total } = await taskPage(db, tenantId, { ...filters, ownerId }, page);
  return { items: items.map((row) => read(row, false)), total };
}

/** Throws a `not_found` refusal. `withContent` includes messages and artifacts. */
export async function readAgentTask(
  { db }: Pick<Directory, "db">,
  tenantId: string,
  agentId: string,
  id: string,
  { ownerId, withContent }: { readonly ownerId: string | null; readonly withContent: boolean },
): Promise<AgentTask> {
  const row = await findListedTask(db, tenantId, agentId, id, ownerId);
  if (row === undefined) throw notFound("task");
  const states = await statesOfTask(db, tenantId, agentId, id);
  return read(
    row,
    withContent,
    states.map(({ state, at }) => ({ state, at: at.toISOString() })),
  );
}
