/** After so long without a look at the changes, what is in force may have been replaced. */
const CURRENT_MS = 5_000;
/** After so long, it says nothing any more. */
const KNOWN_MS = 900_000;

/** As `autonomy_provenance` tells it (interface 2.9). */
export type ConfigurationProvenance = "live" | "last_known_good" | "floor";

/** `ms`: since the changes were last looked at. */
export function knowledgeAfter(ms: number): ConfigurationProvenance {
  if (ms <= CURRENT_MS) return "live";
  return ms <= KNOWN_MS ? "last_known_good" : "floor";
}
