import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { Call } from "../call.ts";
import { settle } from "../metering/settle.ts";
import { noteAttempts, noteRequest } from "./finish.ts";

/**
 * The record of a call that is about to be sent to a provider, as it stands if the process dies before the call ends. From the second
 * attempt on it includes the earlier attempts; it is a copy then, because the call's own row gets its usage only with the answer.
 */
export function beginMarkerRow(call: Call): AuditRow {
  if (call.attempts.length === 0) return call.row;
  const copy: Call = { ...call, row: { ...call.row } };
  settle(copy, null);
  noteAttempts(copy);
  noteRequest(copy);
  return copy.row;
}
