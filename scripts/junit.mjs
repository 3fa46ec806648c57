/** Most lines shown per failure at the end of a run; the full text is above, where the test ran. */
const LINES_SHOWN = 24;

/**
 * Parses a JUnit report: its totals, from the root element, the seconds each file took, and the failed test cases, each as
 * "file > group > test" with the reason indented below it.
 */
export function readJunit(xml) {
  const root = /<testsuites\b[^>]*>/.exec(xml)?.[0];
  if (root === undefined) return undefined;
  const count = (name) => Number(attribute(root, name) ?? 0);
  const [tests, failed, skipped] = [count("tests"), count("failures") + count("errors"), count("skipped")];
  const cases = xml.matchAll(/(<testcase\b[^>]*[^/])>\s*(<(?:failure|error)\b[^>]*>)([^<]*)/g);
  const failures = [...cases].map(([, element, failure, text]) => {
    const name = ["file", "classname", "name"].map((part) => attribute(element, part)).filter(Boolean);
    return [name.join(" > "), ...reason(attribute(failure, "message"), plain(text))].join("\n    ");
  });
  const files = xml.matchAll(/^ {2}(<testsuite\b[^>]*>)/gm);
  const seconds = Object.fromEntries([...files].map(([, element]) => [attribute(element, "name"), Number(attribute(element, "time"))]));
  return { passed: tests - failed - skipped, failed, skipped, failures, seconds };
}

/** The text begins with the message if there is one. */
function reason(message = "", text = "") {
  const lines = (text.trim() || message).split("\n").filter((line) => line.trim() !== "");
  return lines.slice(0, LINES_SHOWN);
}

function plain(text) {
  return text.replace(/&(lt|gt|quot|apos|amp|#\d+);/g, (_, entity) => ENTITIES[entity] ?? String.fromCodePoint(Number(entity.slice(1))));
}

function attribute(element, name) {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(element)?.[1];
  return value === undefined ? undefined : plain(value);
}

const ENTITIES = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
