/** What a started process inherits: enough to run, and no setting of the caller's shell that would change the result. */
export function plainEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] => ["PATH", "HOME", "TMPDIR", "LANG"].includes(entry[0]) && entry[1] !== undefined,
  );
  // Bun sends 256 requests at once unless told otherwise; the launcher of the product lifts that too.
  return { ...Object.fromEntries(kept), BUN_CONFIG_MAX_HTTP_REQUESTS: "65336", ...extra };
}
