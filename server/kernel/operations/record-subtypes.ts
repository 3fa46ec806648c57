/** Subtypes of calls about what was recorded, and of what is reported for the record: they do nothing themselves. */
export const RECORD_SUBTYPES = ["run_end", "run_inspect", "otel_traces"] as const;
