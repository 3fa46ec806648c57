/**
 * What a junit report says: its sums, from the root element that carries them, and the test cases that failed, each as
 * "file > group > test".
 */
export function readJunit(xml) {
  const root = /<testsuites\b[^>]*>/.exec(xml)?.[0];
  if (root === undefined) return undefined;
  const count = (name) => Number(attribute(root, name) ?? 0);
  const [tests, failed, skipped] = [count("tests"), count("failures") + count("errors"), count("skipped")];
  const failures = [...xml.matchAll(/(<testcase\b[^>]*[^/])>\s*<(?:failure|error)\b/g)].map(([, element]) =>
    ["file", "classname", "name"]
      .map((name) => attribute(element, name))
      .filter(Boolean)
      .join(" > "),
  );
  return { passed: tests - failed - skipped, failed, skipped, failures };
}

function attribute(element, name) {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(element)?.[1];
  return value?.replace(/&(lt|gt|quot|apos|amp|#\d+);/g, (_, entity) => ENTITIES[entity] ?? String.fromCodePoint(Number(entity.slice(1))));
}

const ENTITIES = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
