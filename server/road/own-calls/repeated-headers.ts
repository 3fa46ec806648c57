import type { Call } from "../call.ts";
import { LABELS_HEADER } from "../record/labels.ts";

/** What the rows of a job, and of its calls, repeat of the call that began it. */
export interface RepeatedHeaders {
  readonly correlation_id: string | null;
  /** A valid `x-gw-labels`. */
  readonly labels: string | null;
}

export function headersToRepeat({ row, headers }: Call): RepeatedHeaders {
  return { correlation_id: row.correlation_id ?? null, labels: headers.get(LABELS_HEADER) };
}

export function repeatedHeaders({ correlation_id, labels }: RepeatedHeaders): Headers {
  const headers = new Headers();
  if (correlation_id !== null) headers.set("x-correlation-id", correlation_id);
  if (labels !== null) headers.set(LABELS_HEADER, labels);
  return headers;
}
