import type { KbIdentity } from "@gatehouse/contracts/kb-identities";
import { isUuid } from "../../kernel/ids.ts";
import { identitiesOf, kbIdentityStore } from "../../store/knowledge/kb-identities.ts";
import { type PortalOrigin, userActor } from "../people/portal/portal-logins.ts";
import { notFound } from "../writes/records.ts";
import { type Directory, write } from "../writes/write.ts";
import { readKbIdentity, KB_IDENTITIES } from "./kb-identities.ts";

interface Who {
  readonly tenantId: string;
  readonly userId: string;
}

export async function ownIdentities({ db }: Directory, { tenantId, userId }: Who): Promise<KbIdentity[]> {
  return (await identitiesOf(db, tenantId, userId)).map(readKbIdentity);
}

export function unlinkOwnIdentity(directory: Directory, { tenantId, userId }: Who, id: string, origin: PortalOrigin): Promise<KbIdentity> {
  return write(directory, userActor({ id: userId }, origin), async (change) => {
    const row = isUuid(id) ? await kbIdentityStore.find(change.trx, tenantId, id, "lock") : undefined;
    if (row?.end_user_id !== userId) throw notFound("mapping");
    await kbIdentityStore.remove(change.trx, id);
    const before = readKbIdentity(row);
    change.log({ tenant_id: tenantId, action: "delete", resource: KB_IDENTITIES, resource_id: id, before });
    return before;
  });
}
