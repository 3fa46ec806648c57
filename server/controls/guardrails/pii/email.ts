import { SPACED_LETTERS } from "../text/characters.ts";
import { type Detector, type DetectedSpan, type ValueTail, WINDOW } from "../text/detector.ts";
import { withTail } from "../text/scan.ts";

const MAX_LOCAL_LENGTH = 64;

const NARROW_LOCAL = new RegExp(`[${SPACED_LETTERS}0-9._%+'-]`);
const BROAD_LOCAL = /[\p{L}\p{M}\p{N}._%+'-]/u;
const NARROW_DOMAIN = new RegExp(`[${SPACED_LETTERS}0-9.-]`);
const BROAD_DOMAIN = /[\p{L}\p{M}\p{N}.-]/u;
/** Letters of scripts without spaces, such as Han, may touch an address without belonging to it; beside the @ they do belong. */
const isBroad = (character: string) => character > "\u1fff" && /[\p{L}\p{M}]/u.test(character);

const LABEL = "[\\p{L}\\p{M}\\p{N}](?:[\\p{L}\\p{M}\\p{N}-]{0,61}[\\p{L}\\p{M}\\p{N}])?";
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)+(?:xn--[a-z0-9-]{2,59}|[\\p{L}\\p{M}]{2,24})(?![\\p{L}\\p{M}\\p{N}])`, "iu");
/** A domain that continues beyond the window; enough of it to be certain. */
const LONG_DOMAIN = new RegExp(`^(?:${LABEL}\\.)+[\\p{L}\\p{M}\\p{N}]{2}`, "iu");
/** Endings of files and systemd units, which no mail domain has. */
const NOT_TLD = new RegExp(
  String.raw`\.(?:service|socket|target|timer|mount|automount|scope|slice|swap|device|png|jpe?g|gif|svg|webp|avif|css|js|` +
    String.raw`mjs|cjs|ts|tsx|jsx|json|html?|xml|ya?ml|txt|log|lock|toml|jar|exe|dll|tar|tgz|gz)$`,
  "i",
);

/** The rest of a long domain; punctuation belongs to it only if more follows. */
class DomainTail implements ValueTail {
  take(text: string, from: number, final: boolean): { readonly end: number; readonly open: boolean } {
    let end = from;
    for (let at = from; at < text.length; at++) {
      const character = text.charAt(at);
      if (!NARROW_DOMAIN.test(character)) return { end, open: false };
      if (character !== "." && character !== "-") end = at + 1;
      else if (at > end) return { end, open: false };
    }
    return { end, open: !final };
  }
}

/** Credentials in a URL, or the user of an SSH address, name a machine's account rather than a mailbox. */
function isAccountOfMachine(text: string, start: number, at: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 40), start);
  if (/:\/\/(?:[^\s/@:]{0,32}:)?$/.test(before)) return true;
  return at - start === 3 && text.startsWith("git", start) && text.charAt(end) === ":";
}

function addressAround(text: string, start: number, at: number, final: boolean): DetectedSpan | null {
  const window = Math.min(text.length, start + WINDOW - 1);
  const character = isBroad(text.charAt(at + 1)) ? BROAD_DOMAIN : NARROW_DOMAIN;
  let runEnd = at + 1;
  while (runEnd < window && character.test(text.charAt(runEnd))) runEnd++;
  const run = text.slice(at + 1, runEnd);
  if (runEnd === start + WINDOW - 1 && !run.includes("..")) {
    if (!LONG_DOMAIN.test(run)) return null;
    const end = runEnd - (/[.-]+$/.exec(run)?.[0].length ?? 0);
    return withTail(text, final, { category: "email", start, end, score: 0.95 }, new DomainTail());
  }
  const domain = DOMAIN.exec(run)?.[0];
  if (domain === undefined || NOT_TLD.test(domain)) return null;
  const end = at + 1 + domain.length;
  // `a@b.mean(` is a matrix product, and a decorator is not an address either.
  if (text.charAt(end) === "(" || isAccountOfMachine(text, start, at, end)) return null;
  return { category: "email", start, end, score: 0.95 };
}

/** Email addresses: a local part of at most 64 characters and a domain of at least two labels, in any script. */
export const email: Detector = {
  check: "pii",
  maxLength: WINDOW - 1,
  find(text, from, to, final) {
    const found: DetectedSpan[] = [];
    let cursor = from;
    for (let at = text.indexOf("@", from); at >= 0 && at <= to + MAX_LOCAL_LENGTH; at = text.indexOf("@", at + 1)) {
      const character = isBroad(text.charAt(at - 1)) ? BROAD_LOCAL : NARROW_LOCAL;
      let start = at;
      while (start > 0 && at - start < MAX_LOCAL_LENGTH && character.test(text.charAt(start - 1))) start--;
      while (start < at && ".-%'".includes(text.charAt(start))) start++;
      if (start === at || start < cursor || start >= to) continue;
      const address = addressAround(text, start, at, final);
      if (address === null) continue;
      found.push(address);
      if (address.tail !== undefined) break;
      cursor = address.end;
    }
    return found;
  },
  openFrom(text) {
    let start = text.length;
    while (start > 0 && text.length - start < WINDOW && !/[\s,;<>()[\]"]/.test(text.charAt(start - 1))) start--;
    return start;
  },
};
