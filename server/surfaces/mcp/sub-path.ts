const MOST_LAYERS = 8;

/**
 * Whether a path, once whoever it is sent to has decoded it, may lead out of where it begins: programs in front of a server take an
 * encoded slash for a slash, look for dots when they have decoded it, and leave parameters of a segment out.
 */
export function mayLeadOut(path: string): boolean {
  let decoded = path;
  for (let layer = 0; layer < MOST_LAYERS; layer++) {
    if (decoded.split(/[/\\]/).some((segment) => segment.replace(/;.*$/s, "") === "..")) return true;
    const next = decoded.replaceAll(/%(?:25|2e|2f|3b|5c)/gi, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
    if (next === decoded) return false;
    decoded = next;
  }
  return true;
}
