import { refuse, Refused } from "../../kernel/errors.ts";
import { type HasContent, hasContent, isUnderLegalHold } from "../../store/tenants/legal-holds.ts";
import type { Write } from "../writes/write.ts";

export async function refuseUnderLegalHold(write: Write, tenantId: string): Promise<void> {
  if (await isUnderLegalHold(write.trx, tenantId)) throw new Refused(refuse("legal_hold"));
}

/** Records whose deletion takes content of their tenant with it. An end user is content as such. */
const WITH_CONTENT: Readonly<Record<string, HasContent>> = { "end-users": "end_user", "resource-groups": "group", agents: "agent" };

/** Refuses to delete a record under a legal hold of its tenant, if content would be deleted with it. */
export async function refuseHeldContent(write: Write, resource: string, tenantId: string | null, id: string): Promise<void> {
  const kind = WITH_CONTENT[resource];
  if (kind !== undefined && tenantId !== null && (await hasContent(write.trx, kind, id))) await refuseUnderLegalHold(write, tenantId);
}
