import { sql } from "kysely";
import type { Database } from "../../../server/store/database.ts";

/** Stores a person's task at an agent, with a push notification target. */
export async function leaveTask(db: Database, userId: string): Promise<void> {
  await sql`INSERT INTO agents (id, tenant_id, card_name, name) VALUES ('agent', 'default', 'a', 'a')`.execute(db);
  await sql`INSERT INTO agent_contexts (tenant_id, agent_id, owner_id, context_id, upstream_context_id) VALUES ('default', 'agent', ${userId}, 'c', 'c')`.execute(
    db,
  );
  await sql`INSERT INTO agent_tasks (tenant_id, agent_id, id, context_id, owner_kind, owner_id, resource_group_id, state, status_at, task, root_task_id, depth, protocol_version) VALUES ('default', 'agent', 't', 'c', 'user', ${userId}, gen_random_uuid(), 'TASK_STATE_COMPLETED', now(), '"marys task"', 'r', 1, '1.0')`.execute(
    db,
  );
  await sql`INSERT INTO agent_task_states (tenant_id, agent_id, task_id, state, at) VALUES ('default', 'agent', 't', 'marys state', now())`.execute(
    db,
  );
  await sql`INSERT INTO agent_push_configs (tenant_id, agent_id, task_id, id, url, protocol_version) VALUES ('default', 'agent', 't', 'p', 'https://marys receiver', '1.0')`.execute(
    db,
  );
  await sql`INSERT INTO agent_cost_claims (tenant_id, agent_id, task_id, row_id, micros, look_at) VALUES ('default', 'agent', 't', 'marys row', 0, now() + interval '1 day')`.execute(
    db,
  );
  // Not due yet, or a gateway running alongside would deliver it or give up at once.
  await sql`INSERT INTO agent_push_deliveries (id, tenant_id, agent_id, task_id, config_id, body, due_at) VALUES ('d', 'default', 'agent', 't', 'p', '"marys status"', now() + interval '1 day')`.execute(
    db,
  );
}
