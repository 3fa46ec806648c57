/** Audit subtypes of calls that only read the record or report to it. */
export const RECORD_SUBTYPES = ["run_end", "run_inspect", "otel_traces"] as const;
