import { adminUser, adminUserCreate, adminUserQuery, adminUserUpdate } from "@gatehouse/contracts/admin-users";
import { listOf } from "@gatehouse/contracts/conventions";
import { SYSTEM_ROLE } from "@gatehouse/contracts/roles";
import { adminUsers } from "../../../directory/people/admin-users.ts";
import { resetAdminSecondFactor } from "../../../directory/people/reset-admin-factor.ts";
import { requestedTenant } from "../../../directory/tenants/tenants.ts";
import { invalidField } from "../../../directory/writes/records.ts";
import { operation, type AdminCall, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const PATH = "/v1/admin/admin-users";
const ONE = `${PATH}/{id}`;
const reading = { tag: "Admin users", access: "users:read", reach: "any" } as const;
const writing = { tag: "Admin users", access: "users:write", reach: "any" } as const;

/** The tenant a new admin belongs to; null for a system admin. */
async function homeOf(call: AdminCall<unknown, { role?: string | undefined }>): Promise<string | null> {
  if (call.body.role === SYSTEM_ROLE && call.admin.tenantId === null) {
    if (call.tenantOrAll !== null) throw invalidField("tenant_id", "does not go with the role system_admin");
    return null;
  }
  const tenantId = call.tenantOrAll ?? (await requestedTenant(call.services.directory, undefined));
  if (tenantId === undefined) throw invalidField("tenant_id", "is required");
  return tenantId;
}

export const adminUserOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    method: "GET",
    path: PATH,
    summary: "List admin users",
    description: "A system admin who names no tenant sees those of all tenants and the system's.",
    query: adminUserQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("admin_users", adminUser) },
    run: (call) => listed("admin_users", call, (page) => adminUsers.list(call.services.directory, call.tenantOrAll, call.query, page)),
  }),
  operation({
    ...writing,
    method: "POST",
    path: PATH,
    summary: "Create an admin user",
    description: "With the role system_admin: a system admin, which only a system admin can create.",
    body: adminUserCreate,
    answer: { status: 201, about: "The record made", schema: adminUser },
    async run(call) {
      const home = await homeOf(call);
      return call.writeHashed(call.body.password, (write) => adminUsers.create(write, home, call.body));
    },
  }),
  operation({
    ...reading,
    method: "GET",
    path: ONE,
    summary: "Read an admin user",
    answer: { status: 200, about: "The record", schema: adminUser },
    run: (call) => adminUsers.get(call.services.directory, call.tenantOrAll, idOf(call)),
  }),
  operation({
    ...writing,
    method: "PATCH",
    path: ONE,
    summary: "Change an admin user",
    description: "Members left out of the body stay unchanged. Nobody can switch off or demote their own account.",
    body: adminUserUpdate,
    answer: { status: 200, about: "The record as it is now", schema: adminUser },
    run: (call) => call.writeHashed(call.body.password, (write) => adminUsers.update(write, call.tenantOrAll, idOf(call), call.body)),
  }),
  operation({
    ...writing,
    method: "DELETE",
    path: ONE,
    summary: "Delete an admin user",
    description: "Not your own account, and not the last active system admin.",
    answer: { status: 204, about: "Gone" },
    run: (call) => call.write((write) => adminUsers.remove(write, call.tenantOrAll, idOf(call))),
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${ONE}/2fa/reset`,
    summary: "Switch an admin user's second factor off",
    description:
      "For an administrator who has lost their device and their backup codes. Ends their sessions and tokens. Not your own; an owner's only as " +
      "an owner, a system admin's only as a system admin.",
    answer: { status: 200, about: "The record as it is now", schema: adminUser },
    run: (call) => call.write((write) => resetAdminSecondFactor(write, call.tenantOrAll, idOf(call))),
  }),
];
