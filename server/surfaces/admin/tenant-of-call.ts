import type { Admin } from "../../directory/people/logins.ts";
import { lockedTenant, tenantIsDeleted, requestedTenant } from "../../directory/tenants/tenants.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import type { AdminOperation } from "./operation.ts";
import type { AdminServices } from "./services.ts";

export interface NamedTenant {
  readonly query: string | undefined;
  readonly body: string | undefined;
  readonly header: string | undefined;
}

/** The tenant a call applies to; null if it applies to all. */
export async function tenantOfCall(
  services: AdminServices,
  admin: Admin | null,
  operation: AdminOperation,
  params: Readonly<Record<string, string>>,
  named: NamedTenant,
): Promise<string | null> {
  if (operation.reach === "none" || admin === null) return null;
  const names = new Set([named.query, named.body, named.header].filter((name) => name !== undefined));
  if (names.size > 1) throw unclear("names different tenants in query, body and X-Tenant-ID");
  const [name] = names;
  if (admin.tenantId !== null) {
    // The same answer whether or not that tenant exists.
    if (name !== undefined && name !== admin.tenantId) throw new Refused(refuse("forbidden", "This account belongs to another tenant."));
    return admin.tenantId;
  }
  if (name === undefined && operation.reach === "any") return null;
  if (name === undefined && operation.subject !== undefined && params.id !== undefined) {
    const holder = await lockedTenant(services.directory, operation.subject, params.id);
    if (holder !== undefined) return holder;
  }
  const meant = await requestedTenant(services.directory, name);
  if (meant !== undefined) return meant;
  if (name !== undefined && operation.goneToo === true && (await tenantIsDeleted(services.directory, name))) return name;
  if (name !== undefined) throw new Refused(refuse("not_found", "There is no such tenant."));
  // Whichever tenant is meant, the record is in none.
  if (operation.subject !== undefined && params.id !== undefined) throw new Refused(refuse("not_found"));
  throw unclear("is required, because there is no tenant `default` and not just one");
}

function unclear(message: string): Refused {
  return new Refused(refuse("invalid_query", `tenant_id ${message}`, { fields: [{ field: "tenant_id", message }] }));
}
