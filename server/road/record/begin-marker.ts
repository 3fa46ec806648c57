import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { Call } from "../call.ts";
import { settle } from "../metering/settle.ts";
import { noteAttempts, noteRequest } from "./finish.ts";

/**
 * The record of a call that is about to leave for a provider, as it stands if the process dies before the call ends. On its
 * way to another than the first it tells of the attempts before: on a record of its own, because the call's own tells
 * of usage only once its answer is in.
 */
export function beginMarkerRow(call: Call): AuditRow {
  if (call.attempts.length === 0) return call.row;
  const copy: Call = { ...call, row: { ...call.row } };
  settle(copy, null);
  noteAttempts(copy);
  noteRequest(copy);
  return copy.row;
}
