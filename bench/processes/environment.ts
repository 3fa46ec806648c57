/** The environment of a started process: what it needs to run, and no setting of the caller's shell that would affect the result. */
export function plainEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] => ["PATH", "HOME", "TMPDIR", "LANG"].includes(entry[0]) && entry[1] !== undefined,
  );
  // By default, Bun sends at most 256 requests at once; the product's launcher raises that too.
  return { ...Object.fromEntries(kept), BUN_CONFIG_MAX_HTTP_REQUESTS: "65336", ...extra };
}
