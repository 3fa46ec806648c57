import { ACTION_RECORD_SCHEMA, actionRecordDigest, type ActionRecord } from "@gatehouse/ledger-format/action-record";
import { ulid } from "../../kernel/ids.ts";
import type { LogEntry, Write } from "./write.ts";

interface Sealed extends Pick<LogEntry, "action" | "resource" | "resource_id" | "before"> {
  readonly tenantId: string;
  readonly system: ActionRecord["system"];
  readonly context: ActionRecord["context"];
  readonly references?: ActionRecord["references"];
}

/** For control plane records that refer to no contract: of a system, or of the whole tenant if null. */
export const systemAlone = (systemId: string | null): ActionRecord["system"] => ({
  ai_system_id: systemId,
  contract_version: null,
  contract_hash: null,
});

/**
 * Seals a control plane record (interface 2.10): its admin log entry, with the record in it, is hashed into the log's
 * chain. Returns the record's digest.
 */
export function sealRecord(write: Write, { tenantId, system, context, references = [], ...entry }: Sealed): string {
  const record: ActionRecord = {
    schema: ACTION_RECORD_SCHEMA,
    action_id: ulid(write.now.getTime()),
    kind: "fyi",
    verdict: "recorded",
    operator: tenantId,
    system,
    timestamp: write.now.toISOString(),
    controls: [],
    context,
    references,
    record_id: ulid(write.now.getTime()),
  };
  const digest = actionRecordDigest(record);
  write.log({ tenant_id: tenantId, ...entry, after: { action_record: record, digest } });
  return digest;
}
