import { proxyLogPage, proxyLogQuery } from "@gatehouse/contracts/proxy-logs";
import { FIELD_NAMES } from "@gatehouse/ledger-format/fields";
import { refuse, Refused } from "../../kernel/errors.ts";
import { operation, type Operation } from "./operation.ts";

const KNOWN = new Set<string>(FIELD_NAMES);

/** A filter on no field would find everything, which is the last thing its sender wants. */
function refuseUnknownFields(filters: Readonly<Record<string, unknown>>): void {
  const fields = Object.keys(filters)
    .filter((name) => !KNOWN.has(name))
    .map((name) => ({ field: `filters.${name}`, message: "is no audit field" }));
  if (fields.length > 0) throw new Refused(refuse("invalid_body", fields.map(({ field, message }) => `${field}: ${message}`).join("; "), { fields }));
}

export const proxyLogOperations: readonly Operation[] = [
  operation({
    tag: "Audit",
    access: "proxy:logs:read",
    reach: "any",
    method: "POST",
    path: "/v1/admin/proxy-logs/query",
    summary: "Query audit rows",
    description: "Body previews need proxy:logs:read_bodies as well; without it they are null and bodies_withheld is true. A system admin who names no tenant sees all rows.",
    body: proxyLogQuery,
    answer: { status: 200, about: "One page of rows", schema: proxyLogPage },
    async run(call) {
      refuseUnknownFields(call.body.filters ?? {});
      const bodies = call.admin.permissions.has("proxy:logs:read_bodies");
      return call.services.ledger.queryRows({ ...call.body, tenant_id: call.tenantOrAll }, { bodies });
    },
  }),
];
