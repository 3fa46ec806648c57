/**
 * Whether a site's robots.txt allows an agent to read a path: the longest matching rule counts; of two equally long ones, the one that
 * allows.
 */
export function robotsAllow(robots: string, agent: string, path: string): boolean {
  const rules = rulesFor(robots, agent) ?? rulesFor(robots, "*") ?? [];
  let best: { readonly allow: boolean; readonly length: number } | null = null;
  for (const { allow, pattern } of rules) {
    if (!fits(pattern, path)) continue;
    if (best === null || pattern.length > best.length || (pattern.length === best.length && allow))
      best = { allow, length: pattern.length };
  }
  return best?.allow ?? true;
}

interface Rule {
  readonly allow: boolean;
  readonly pattern: string;
}

const MAX_RULES = 1_000;
const MAX_PATTERN_LENGTH = 200;
const MAX_STARS = 8;

/** Null if the file has no group for the agent. */
function rulesFor(robots: string, agent: string): Rule[] | null {
  let mine = false;
  let heading = false;
  let found: Rule[] | null = null;
  for (const line of robots.split(/\r\n?|\n/)) {
    const colon = line.indexOf(":");
    if (colon < 0) continue;
    const field = line.slice(0, colon).trim().toLowerCase();
    const value = (line.slice(colon + 1).split("#")[0] as string).trim();
    if (field === "user-agent") {
      if (!heading) mine = false;
      heading = true;
      if (value.toLowerCase() === agent) {
        mine = true;
        found ??= [];
      }
    } else if (field === "allow" || field === "disallow") {
      heading = false;
      if (mine && value !== "" && isSimple(value) && (found?.length ?? 0) < MAX_RULES)
        found?.push({ allow: field === "allow", pattern: value });
    }
  }
  return found;
}

const isSimple = (pattern: string) => pattern.length <= MAX_PATTERN_LENGTH && pattern.split("*").length <= MAX_STARS + 1;

/** `*` matches anything, a final `$` the end. Matches piece by piece, without backtracking. */
function fits(pattern: string, path: string): boolean {
  const ends = pattern.endsWith("$");
  const [first = "", ...pieces] = (ends ? pattern.slice(0, -1) : pattern).split("*");
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const [index, piece] of pieces.entries()) {
    if (ends && index === pieces.length - 1) return path.length - piece.length >= at && path.endsWith(piece);
    const next = path.indexOf(piece, at);
    if (next < 0) return false;
    at = next + piece.length;
  }
  return !ends || at === path.length;
}
