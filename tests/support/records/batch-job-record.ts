import type { Database } from "../../../server/store/database.ts";

/** Stores a tenant's finished job; resolves to its ID. */
export async function batchJobRecord(db: Database, tenantId: string, groupId: string): Promise<string> {
  const id = `batch_of_${tenantId}`;
  const [at, by] = [new Date(), { resource_group_id: groupId, end_user_id: null, api_key_id: null }];
  const nothing = { ends_as: "completed", model: null, model_id: null, description: null, input_file_id: null } as const;
  const ended = { output_file_id: null, error_file_id: null, root_task_id: null, correlation_id: null, taken_by: null } as const;
  await db
    .insertInto("batch_jobs")
    .values({
      ...{ id, tenant_id: tenantId, ...by, ...nothing, ...ended, status: "completed", endpoint: "/v1/embeddings" },
      ...{ completion_window: "24h", request_id: "r", client_ip: "::1", created_at: at, expires_at: at },
    })
    .execute();
  return id;
}
