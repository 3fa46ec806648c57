/** Sums of a junit report: only the root element is read, which carries them. */
export function readJunit(xml) {
  const root = /<testsuites\b[^>]*>/.exec(xml)?.[0];
  if (root === undefined) return undefined;
  const count = (name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
  const [tests, failed, skipped] = [count("tests"), count("failures") + count("errors"), count("skipped")];
  return { passed: tests - failed - skipped, failed, skipped };
}
