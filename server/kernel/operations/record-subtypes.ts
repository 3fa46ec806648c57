/** Audit subtypes of calls that read the record or report to it, and do nothing else. */
export const RECORD_SUBTYPES = ["run_end", "run_inspect", "otel_traces"] as const;
