import { sql } from "kysely";
import type { AgentTaskRow } from "./agent-tasks.ts";
import type { Database } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";

export interface TaskFilters {
  readonly agent_id?: string | undefined;
  readonly state?: string | undefined;
  readonly root_task_id?: string | undefined;
  /** Null for all owners in the tenant. */
  readonly ownerId: string | null;
}

export type ListedTask = AgentTaskRow & { readonly card_name: string; readonly push_configs: number };

const listed = (db: Database) =>
  db
    .selectFrom("agent_tasks as t")
    .innerJoin("agents as a", "a.id", "t.agent_id")
    .selectAll("t")
    .select([
      "a.card_name",
      sql<number>`(SELECT count(*) FROM agent_push_configs p WHERE p.tenant_id = t.tenant_id AND p.agent_id = t.agent_id AND p.task_id = t.id)`.as(
        "push_configs",
      ),
    ]);

/** Newest first. */
export async function taskPage(db: Database, tenantId: string, filters: TaskFilters, page: Page): Promise<Paged<ListedTask>> {
  let query = listed(db).where("t.tenant_id", "=", tenantId);
  if (filters.ownerId !== null) query = query.where("t.owner_id", "=", filters.ownerId);
  if (filters.agent_id !== undefined) query = query.where("t.agent_id", "=", filters.agent_id);
  if (filters.state !== undefined) query = query.where("t.state", "=", filters.state);
  if (filters.root_task_id !== undefined) query = query.where("t.root_task_id", "=", filters.root_task_id);
  return pageOfRows(query.clearSelect(), query.orderBy("t.created_at", "desc").orderBy("t.id"), page);
}

export async function findListedTask(
  db: Database,
  tenantId: string,
  agentId: string,
  id: string,
  ownerId: string | null,
): Promise<ListedTask | undefined> {
  let query = listed(db).where("t.tenant_id", "=", tenantId).where("t.agent_id", "=", agentId).where("t.id", "=", id);
  if (ownerId !== null) query = query.where("t.owner_id", "=", ownerId);
  return query.executeTakeFirst();
}
