import type { Detector, DetectedSpan } from "../text/detector.ts";
import { scan, withTail } from "../text/scan.ts";
import { looksRandom } from "./looks-random.ts";
import { tokenSigns } from "./token-signs.ts";
import { openTokenFrom, TokenTail } from "./token-tail.ts";

const NAMED = /sk-(?:proj|svcacct|admin|None)-([A-Za-z0-9_-]{40,64})/y;
const MARKED = /sk-(?:[a-z]{2,8}-)?([A-Za-z0-9_-]{16,74})T3BlbkFJ/y;
const PLAIN = /sk-([A-Za-z0-9]{48})(?![A-Za-z0-9_-])/y;

/** Generated keys mix digits and both cases; words joined by dashes do not. */
const isMixed = (body: string) => /\d/.test(body) && /[A-Z]/.test(body) && /[a-z]/.test(body);

function keyAt(text: string, start: number, final: boolean): DetectedSpan | null {
  for (const pattern of [NAMED, MARKED, PLAIN]) {
    pattern.lastIndex = start;
    const match = pattern.exec(text);
    const body = match?.[1] ?? "";
    if (match === null || !looksRandom(body) || !(pattern === PLAIN ? /\d/.test(body) : isMixed(body))) continue;
    return withTail(
      text,
      final,
      { category: "openai_key", start, end: start + match[0].length, score: 0.95 },
      new TokenTail(/[A-Za-z0-9_-]/),
    );
  }
  return null;
}

const mayBegin = tokenSigns("sk-");

/** OpenAI keys: project, service account and admin keys, and older ones without a kind. */
export const openaiKey: Detector = {
  check: "secrets",
  maxLength: 95,
  find: (text, from, to, final) =>
    mayBegin(text, from) ? scan(text, /(?<![A-Za-z0-9])sk-[A-Za-z0-9]/g, from, to, (at) => keyAt(text, at, final)) : [],
  openFrom: openTokenFrom,
};
