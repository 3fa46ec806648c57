/** Without a check for changes for this long, the configuration may have been replaced. */
const CURRENT_MS = 5_000;
/** Beyond this, the configuration is no longer trusted at all. */
const KNOWN_MS = 900_000;

/** The values of `autonomy_provenance` (interface 2.9). */
export type ConfigurationProvenance = "live" | "last_known_good" | "floor";

/** `ms`: time since changes were last read. */
export function knowledgeAfter(ms: number): ConfigurationProvenance {
  if (ms <= CURRENT_MS) return "live";
  return ms <= KNOWN_MS ? "last_known_good" : "floor";
}
