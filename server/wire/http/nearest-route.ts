import { editsBetween } from "../../kernel/text/edits-between.ts";

export interface NearestRoute {
  /** A served path, with the caller's values in place of its parameters. */
  readonly path: string;
  /** The path with which the client's base URL must end, empty for the origin alone; null if the base URL is not the problem. */
  readonly base: string | null;
}

/** The base path for clients of OpenAI's format. */
const USUAL_BASE = "/v1/proxy/llm";
/** Limits the work for unauthenticated requests, whose paths can have any length. */
const MAX_LENGTH = 512;
const MAX_PARTS = 16;
/** Maximum edit distance of a mistyped segment. */
const MAX_EDITS = 2;

/**
 * The served path whose ending is most similar to the requested one: clients append their path to a base URL that may be
 * wrong. Null if no ending is similar.
 */
export function nearestRoute(
  target: { readonly method: string; readonly path: string },
  routes: readonly { readonly method: string; readonly path: string }[],
): NearestRoute | null {
  if (target.path.length > MAX_LENGTH) return null;
  const parts = partsOf(target.path);
  if (parts.length === 0 || parts.length > MAX_PARTS) return null;
  const served = new Set(routes.map(({ path }) => path));
  let best: { readonly route: NearestRoute; readonly score: number } | null = null;
  for (const { method, path } of routes) {
    const wanted = partsOf(path);
    const tail = commonTail(parts, wanted);
    if (tail.literal === 0) continue;
    const lead = wanted.slice(0, wanted.length - tail.parts.length);
    // Ranks by the longest common ending, then by a base that is not itself served, exact spelling, the same method, the usual base and
    // the shorter path.
    const before = joined(lead);
    const behind = (served.has(before) ? -5_000 : 0) + (before === USUAL_BASE ? 100 : 0);
    const fits = tail.literal * 10_000 - tail.edits * 1_000 + (method === target.method ? 500 : 0);
    const score = fits + behind - lead.length * 10 - wanted.length;
    if (best !== null && score <= best.score) continue;
    const given = joined(parts.slice(0, parts.length - tail.parts.length));
    const base = joined(lead.map(shown));
    if (base !== given && !isBase(given, tail)) continue;
    best = { score, route: { path: joined([...lead.map(shown), ...tail.parts]), base: base === given ? null : base } };
  }
  return best?.route ?? null;
}

/** The hint for a path that is not served: the path probably meant, and the base URL for it; empty if there is none. */
export function nearestText(near: NearestRoute | null): string {
  if (near === null) return "";
  const base =
    near.base === null
      ? ""
      : ` The base address of your client has to end in ${near.base === "" ? "nothing but the host and port" : near.base}.`;
  return ` Did you mean ${near.path}?${base}`;
}

/** Whether `given` may be a client's base URL, and the ending is exact: otherwise the ending, not the base, is probably wrong. */
function isBase(given: string, { edits }: Tail): boolean {
  const behind = given.startsWith(`${USUAL_BASE}/`) ? given.slice(USUAL_BASE.length) : "";
  return edits === 0 && /^(?:\/v\d\w*)?$/.test(behind);
}

interface Tail {
  /** The common ending, with served spelling. */
  readonly parts: readonly string[];
  /** How many of the segments are not parameters. */
  readonly literal: number;
  readonly edits: number;
}

function commonTail(parts: readonly string[], wanted: readonly string[]): Tail {
  const tail: string[] = [];
  let literal = 0;
  let edits = 0;
  // Parameters before the first literal segment match anything, so they count only if a literal follows further left.
  let kept: Tail = { parts: [], literal: 0, edits: 0 };
  for (let at = 1; at <= wanted.length && at <= parts.length; at++) {
    const part = parts[parts.length - at] as string;
    const want = wanted[wanted.length - at] as string;
    if (want.startsWith(":")) {
      const pattern = /^:\w+\{(.*)\}$/.exec(want)?.[1];
      if (pattern !== undefined && !new RegExp(`^${pattern}$`).test(part)) break;
      // `:generateContent` after a model name is as specific as a literal segment.
      if (pattern?.includes(":") === true) literal++;
      tail.unshift(part);
    } else {
      const off = want === part ? 0 : editsBetween(want, part, MAX_EDITS);
      if (off > MAX_EDITS || off * 3 > want.length) break;
      edits += off;
      literal++;
      tail.unshift(want);
    }
    kept = { parts: [...tail], literal, edits };
  }
  return kept;
}

const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "");
const joined = (parts: readonly string[]): string => parts.map((part) => `/${part}`).join("");
const shown = (part: string): string => part.replace(/^:(\w+).*$/, "{$1}");
