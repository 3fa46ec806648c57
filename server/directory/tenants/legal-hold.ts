import { refuse, Refused } from "../../kernel/errors.ts";
import { isUnderLegalHold } from "../../store/tenants/legal-holds.ts";
import type { Write } from "../writes/write.ts";

export async function refuseUnderLegalHold(write: Write, tenantId: string): Promise<void> {
  if (await isUnderLegalHold(write.trx, tenantId)) throw new Refused(refuse("legal_hold"));
}
