import { listOf } from "@gatehouse/contracts/conventions";
import { tenant, tenantCreate, tenantQuery, tenantStats, tenantUpdate } from "@gatehouse/contracts/tenants";
import { readTenantStats as statsOf } from "../../../directory/tenants/tenant-stats.ts";
import { tenants } from "../../../directory/tenants/tenants.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const PATH = "/v1/admin/tenants";
const ONE = `${PATH}/{id}`;
const common = { tag: "Tenants", access: "system", reach: "none", textParams: ["id"] } as const;

export const tenantOperations: readonly AdminOperation[] = [
  operation({
    ...common,
    method: "GET",
    path: PATH,
    summary: "List tenants",
    query: tenantQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("tenants", tenant) },
    run: (call) => listed("tenants", call, (page) => tenants.list(call.services.directory, null, call.query, page)),
  }),
  operation({
    ...common,
    method: "POST",
    path: PATH,
    summary: "Create a tenant",
    description:
      "Its retention is 30 days for bodies and 400 for rows and runs, bodies redacted, unless the body says otherwise. The " +
      "id of a deleted tenant is a 409 while audit rows are kept under it.",
    body: tenantCreate,
    answer: { status: 201, about: "The record made", schema: tenant },
    run: (call) => call.write((write) => tenants.create(write, null, call.body)),
  }),
  operation({
    ...common,
    method: "GET",
    path: ONE,
    summary: "Read a tenant",
    answer: { status: 200, about: "The record", schema: tenant },
    run: (call) => tenants.get(call.services.directory, null, idOf(call)),
  }),
  operation({
    ...common,
    method: "PATCH",
    path: ONE,
    summary: "Change a tenant",
    description: "What the body leaves out stays as it is; data_retention is replaced as a whole.",
    body: tenantUpdate,
    answer: { status: 200, about: "The record as it is now", schema: tenant },
    run: (call) => call.write((write) => tenants.update(write, null, idOf(call), call.body)),
  }),
  operation({
    ...common,
    method: "PUT",
    path: ONE,
    summary: "Set a tenant's members",
    description:
      "Like PATCH: what the body leaves out stays as it is, so that setting the retention loosens nothing else. A record can be read, " +
      "changed and sent back.",
    body: tenantUpdate,
    answer: { status: 200, about: "The record as it is now", schema: tenant },
    run: (call) => call.write((write) => tenants.update(write, null, idOf(call), call.body)),
  }),
  operation({
    ...common,
    method: "DELETE",
    path: ONE,
    summary: "Delete a tenant",
    description:
      "Refused with in_use while it has groups, providers, models, active keys or users, and with legal_hold while it is under one. Its audit rows stay for as long as " +
      "its retention says.",
    answer: { status: 204, about: "Gone" },
    run: (call) => call.write((write) => tenants.remove(write, null, idOf(call))),
  }),
  operation({
    ...common,
    method: "GET",
    path: `${ONE}/stats`,
    summary: "Count what a tenant has and used",
    answer: { status: 200, about: "Records now, and use of the last 30 days", schema: tenantStats },
    run: (call) => statsOf(call.services.directory, idOf(call)),
  }),
];
