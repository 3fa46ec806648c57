import { editsBetween } from "../../kernel/text/edits-between.ts";

export interface NearestRoute {
  /** An address that is served, with the caller's own names in the places of its parameters. */
  readonly path: string;
  /**
   * What the caller's base address has to end in for its client to ask there, empty where it is the origin alone; null: it is not what is
   * wrong.
   */
  readonly base: string | null;
}

/** Of clients of OpenAI's format. */
const USUAL_BASE = "/v1/proxy/llm";
/** A stranger chooses how long an address is. */
const LONGEST = 512;
const MAX_PARTS = 16;
/** Letters in which a mistyped part may differ. */
const MAX_EDITS = 2;

/**
 * The served address that ends most like the one that was asked for: clients join their own ending to a base that was
 * set wrong. Null when nothing ends alike.
 */
export function nearestRoute(
  asked: { readonly method: string; readonly path: string },
  routes: readonly { readonly method: string; readonly path: string }[],
): NearestRoute | null {
  if (asked.path.length > LONGEST) return null;
  const parts = partsOf(asked.path);
  if (parts.length === 0 || parts.length > MAX_PARTS) return null;
  const served = new Set(routes.map(({ path }) => path));
  let best: { readonly route: NearestRoute; readonly score: number } | null = null;
  for (const { method, path } of routes) {
    const wanted = partsOf(path);
    const tail = commonTail(parts, wanted);
    if (tail.literal === 0) continue;
    const lead = wanted.slice(0, wanted.length - tail.parts.length);
    // The longest common ending first, then behind what can be a base, being served by nothing itself, one spelled as it was asked
    // for, the method, the base that most clients are to have, and the shorter address.
    const before = joined(lead);
    const behind = (served.has(before) ? -5_000 : 0) + (before === USUAL_BASE ? 100 : 0);
    const fits = tail.literal * 10_000 - tail.edits * 1_000 + (method === asked.method ? 500 : 0);
    const score = fits + behind - lead.length * 10 - wanted.length;
    if (best !== null && score <= best.score) continue;
    const given = joined(parts.slice(0, parts.length - tail.parts.length));
    const base = joined(lead.map(shown));
    if (base !== given && !isBase(given, tail)) continue;
    best = { score, route: { path: joined([...lead.map(shown), ...tail.parts]), base: base === given ? null : base } };
  }
  return best?.route ?? null;
}

/** What to say of an address that is not served: the one that may have been meant, and the base that leads there. */
export function nearestText(near: NearestRoute | null): string {
  if (near === null) return "";
  const base =
    near.base === null
      ? ""
      : ` The base address of your client has to end in ${near.base === "" ? "nothing but the host and port" : near.base}.`;
  return ` Did you mean ${near.path}?${base}`;
}

/** Whether a client may have been given this base, and not been asked for something that is not served behind the right one. */
function isBase(given: string, { edits }: Tail): boolean {
  const behind = given.startsWith(`${USUAL_BASE}/`) ? given.slice(USUAL_BASE.length) : "";
  return edits === 0 && /^(?:\/v\d\w*)?$/.test(behind);
}

interface Tail {
  /** The end both have, as it is to be asked for. */
  readonly parts: readonly string[];
  /** How many of them are no parameter. */
  readonly literal: number;
  readonly edits: number;
}

function commonTail(parts: readonly string[], wanted: readonly string[]): Tail {
  const tail: string[] = [];
  let literal = 0;
  let edits = 0;
  // Parameters in front of the first literal part would take anything: they count only where one follows to the left.
  let kept: Tail = { parts: [], literal: 0, edits: 0 };
  for (let at = 1; at <= wanted.length && at <= parts.length; at++) {
    const part = parts[parts.length - at] as string;
    const want = wanted[wanted.length - at] as string;
    if (want.startsWith(":")) {
      const pattern = /^:\w+\{(.*)\}$/.exec(want)?.[1];
      if (pattern !== undefined && !new RegExp(`^${pattern}$`).test(part)) break;
      // `:generateContent` behind a model's name says as much as a part of its own.
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
