const MAX_LAYERS = 8;

/**
 * Whether a path may lead outside its base once its receiver has decoded it: proxies in front of a server treat an encoded slash as a
 * slash, resolve dots after decoding, and strip parameters of a segment.
 */
export function mayLeadOut(path: string): boolean {
  let decoded = path;
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    if (decoded.split(/[/\\]/).some((segment) => segment.replace(/;.*$/s, "") === "..")) return true;
    const next = decoded.replaceAll(/%(?:25|2e|2f|3b|5c)/gi, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
    if (next === decoded) return false;
    decoded = next;
  }
  return true;
}
