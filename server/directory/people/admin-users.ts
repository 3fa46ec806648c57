import type { AdminUser, AdminUserCreate, AdminUserQuery, AdminUserUpdate } from "@gatehouse/contracts/admin-users";
import { SYSTEM_ROLE } from "@gatehouse/contracts/roles";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import {
  adminByUsername,
  adminUserStore,
  otherActiveSystemAdmins,
  type AdminUserInsert,
  type AdminUserPatch,
  type AdminUserRow,
} from "../../store/people/admin-users.ts";
import { tenantExists } from "../../store/tenants/tenants.ts";
import { invalidField, notFound, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";

const OWNER = "owner";

export function readAdminUser(row: AdminUserRow): AdminUser {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    username: row.username,
    email: row.email,
    display_name: row.display_name,
    role: row.role as AdminUser["role"],
    is_active: row.is_active,
    break_glass: row.break_glass,
    totp_enabled: row.totp_enabled,
    last_login: row.last_login?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Nobody may grant, change or revoke a role above their own: owners for owners, system admins for system admins. */
export function guardRank(write: Write, role: string): void {
  const own = write.actor.role;
  if (own === SYSTEM_ROLE || write.actor.id === null) return;
  if (role === SYSTEM_ROLE) throw new Refused(refuse("forbidden", "Only a system admin may do this to a system admin."));
  if (role === OWNER && own !== OWNER) throw new Refused(refuse("forbidden", "Only an owner may do this to an owner."));
}

/** Refuses a change that would leave no active system admin. */
async function guardLastSystemAdmin(write: Write, row: AdminUserRow): Promise<void> {
  if (row.tenant_id === null && row.is_active && (await otherActiveSystemAdmins(write.trx, row.id)) === 0)
    throw new Refused(refuse("last_system_admin"));
}

/** The time from which the user's tokens are valid. Always increases, even if the clock does not. */
export function nextGeneration(row: AdminUserRow, now: Date): Date {
  return new Date(Math.max(now.getTime(), row.tokens_valid_from.getTime() + 1));
}

/** A null scope covers all tenants and the system; in `create` it makes a system admin. */
export const adminUsers = records<
  AdminUserRow,
  AdminUserInsert,
  AdminUserPatch,
  AdminUser,
  AdminUserCreate,
  AdminUserUpdate,
  AdminUserQuery,
  string | null
>({
  resource: "admin-users",
  noun: "admin user",
  store: adminUserStore,
  read: readAdminUser,
  tenantOf: (row) => row.tenant_id,
  takenBy: async (write, _scope, candidate) => (await adminByUsername(write.trx, candidate.tenant_id ?? null, candidate.username))?.id,
  async toInsert(write, tenantId, body) {
    const bySystem = write.actor.role === SYSTEM_ROLE || write.actor.id === null;
    const role = tenantId === null ? SYSTEM_ROLE : (body.role ?? (bySystem ? OWNER : "viewer"));
    guardRank(write, role);
    if (body.break_glass === true) guardRank(write, OWNER);
    if (tenantId !== null && role === SYSTEM_ROLE) throw invalidField("role", "system_admin belongs to no tenant");
    if (tenantId !== null && !(await tenantExists(write.trx, tenantId))) throw notFound("tenant");
    return {
      id: uuid(),
      tenant_id: tenantId,
      username: body.username,
      email: body.email ?? null,
      display_name: body.display_name ?? null,
      password_hash: await write.directory.hashPassword(body.password),
      role,
      is_active: body.is_active ?? true,
      break_glass: body.break_glass ?? false,
      tokens_valid_from: write.now,
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async toPatch(write, _scope, row, body) {
    guardRank(write, row.role);
    if (body.break_glass !== undefined && body.break_glass !== row.break_glass) guardRank(write, OWNER);
    const { password, ...rest } = body;
    if (body.role !== undefined && body.role !== row.role) {
      guardRank(write, body.role);
      if ((body.role === SYSTEM_ROLE) !== (row.role === SYSTEM_ROLE))
        throw invalidField("role", "cannot change between a tenant's admin and a system admin");
    }
    const own = row.id === write.actor.id;
    if (own && (body.is_active === false || (body.role !== undefined && body.role !== row.role))) throw new Refused(refuse("own_account"));
    if (own && password !== undefined) throw invalidField("password", "of one's own account is changed with change-password");
    if (body.is_active === false) await guardLastSystemAdmin(write, row);
    const endsTokens = password !== undefined || (body.is_active === false && row.is_active);
    return {
      ...rest,
      ...(password === undefined ? {} : { password_hash: await write.directory.hashPassword(password) }),
      ...(endsTokens ? { tokens_valid_from: nextGeneration(row, write.now) } : {}),
      updated_at: write.now,
    };
  },
  dependents: async () => [],
  async removing(write, row) {
    guardRank(write, row.role);
    if (row.id === write.actor.id) throw new Refused(refuse("own_account"));
    await guardLastSystemAdmin(write, row);
  },
  // Runtime processes hold no admins.
  notify: () => {},
});
