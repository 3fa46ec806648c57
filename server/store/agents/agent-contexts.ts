import { sql } from "kysely";
import { type TaskScope, withinTaskScope } from "./agent-tasks.ts";
import type { Database } from "../database.ts";

export async function ownContext(db: Database, scope: TaskScope, contextId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("agent_contexts")
    .select("upstream_context_id")
    .where((eb) => eb.and(withinTaskScope(scope)))
    .where("context_id", "=", contextId)
    .executeTakeFirst();
  return row?.upstream_context_id;
}

/** Records that this owner uses the context. Returns false if the agent already gave it to another owner. */
export async function keepContext(db: Database, scope: TaskScope, contextId: string, upstreamId: string): Promise<boolean> {
  const other = await db
    .selectFrom("agent_contexts")
    .select("owner_id")
    .where("tenant_id", "=", scope.tenantId)
    .where("agent_id", "=", scope.agentId)
    .where("upstream_context_id", "=", upstreamId)
    .where("owner_id", "<>", scope.ownerId)
    .limit(1)
    .executeTakeFirst();
  if (other !== undefined) return false;
  await db
    .insertInto("agent_contexts")
    .values({ ...withinTaskScope(scope), context_id: contextId, upstream_context_id: upstreamId })
    .onConflict((conflict) =>
      conflict.columns(["tenant_id", "agent_id", "owner_id", "context_id"]).doUpdateSet({ used_at: sql<Date>`now()` }),
    )
    .execute();
  return true;
}
