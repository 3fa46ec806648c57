import type { ProvisioningEntry } from "@gatehouse/contracts/provisioning";
import { ulid } from "../../kernel/ids.ts";
import { storableText, storableValue } from "../../kernel/text/storable.ts";
import { appendProvisioningLog } from "../../store/provisioning/provisioning-log.ts";
import type { Directory, Write } from "../writes/write.ts";
import type { ScimCaller } from "./scim-tokens.ts";

export interface ProvisioningDeed {
  readonly method: string;
  readonly resourceType: ProvisioningEntry["resource_type"];
  readonly resourceId: string | null;
  readonly status: number;
  readonly outcome: ProvisioningEntry["outcome"];
  readonly detail: Record<string, unknown>;
}

const entryOf = (caller: ScimCaller, at: Date, deed: ProvisioningDeed) => ({
  id: ulid(),
  tenant_id: caller.tenantId,
  at,
  source: caller.source,
  token_id: caller.tokenId,
  method: deed.method,
  resource_type: deed.resourceType,
  resource_id: deed.resourceId === null ? null : storableText(deed.resourceId),
  status: deed.status,
  outcome: deed.outcome,
  detail: JSON.stringify(storableValue(deed.detail)),
});

/** Written in the same transaction as the change. */
export function noteDeed(write: Write, caller: ScimCaller, deed: ProvisioningDeed): Promise<void> {
  return appendProvisioningLog(write.trx, entryOf(caller, write.now, deed));
}

/** For refused requests, which changed nothing. */
export function noteRefusedDeed(directory: Directory, caller: ScimCaller, deed: ProvisioningDeed): Promise<void> {
  return appendProvisioningLog(directory.db, entryOf(caller, new Date(directory.clock.now()), deed));
}
