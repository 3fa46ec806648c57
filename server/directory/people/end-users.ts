import { uuid } from "../../kernel/ids.ts";
import { insertEndUser } from "../../store/end-users.ts";
import type { Write } from "../writes/write.ts";

/** Throws the database's unique violation when the username is taken. */
export async function createEndUser(write: Write, tenantId: string, user: { username: string; password: string; primary_group_id?: string }): Promise<{ id: string }> {
  const id = uuid();
  const shown = { username: user.username, email: null, display_name: null, primary_group_id: user.primary_group_id ?? null };
  await insertEndUser(write.trx, {
    id,
    tenant_id: tenantId,
    ...shown,
    password_hash: await write.directory.hashPassword(user.password),
    avatar_url: null,
    created_at: write.now,
    updated_at: write.now,
  });
  write.log({ tenant_id: tenantId, action: "create", resource: "end-users", resource_id: id, after: { id, tenant_id: tenantId, ...shown, password: "***" } });
  return { id };
}
