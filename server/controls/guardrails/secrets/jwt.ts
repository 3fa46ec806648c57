import { type Detector, type DetectedSpan, WINDOW } from "../text/detector.ts";
import { scan, withTail } from "../text/scan.ts";
import { tokenSigns } from "./token-signs.ts";
import { openTokenFrom, TokenTail } from "./token-tail.ts";

/** The header and the beginning of what follows. */
const COMPLETE_HEADER = /(ey[JA][A-Za-z0-9_-]{8,}|ewo[A-Za-z0-9_-]{8,})\.([A-Za-z0-9_-]*)(\.?)/y;
const LONG_HEADER = /e[yw][A-Za-z0-9_-]+/y;

function decoded(base64url: string): string | null {
  try {
    return atob(
      base64url
        .slice(0, base64url.length - (base64url.length % 4 === 1 ? 1 : 0))
        .replaceAll("-", "+")
        .replaceAll("_", "/"),
    );
  } catch {
    return null;
  }
}

function isHeader(part: string): boolean {
  try {
    const value: unknown = JSON.parse(decoded(part) ?? "");
    return typeof value === "object" && value !== null && "alg" in value;
  } catch {
    return false;
  }
}

function tokenAt(text: string, start: number, final: boolean): DetectedSpan | null {
  const window = text.slice(start, start + WINDOW - 1);
  const isCut = window.length === WINDOW - 1;
  const tail = () => new TokenTail(/[A-Za-z0-9_.-]/);
  COMPLETE_HEADER.lastIndex = 0;
  const match = COMPLETE_HEADER.exec(window);
  if (match !== null) {
    const [whole, header = "", second, dot] = match;
    // Two parts alone are no token, unless the window ends before a third could appear.
    if ((dot === "" && !(isCut && whole.length === window.length)) || !isHeader(header)) return null;
    // An encrypted token may have an empty second part, but not an empty rest; text that trails off in dots is no token.
    if (second === "" && whole.length < window.length && !/[A-Za-z0-9_-]/.test(window.charAt(whole.length))) return null;
    return withTail(text, final, { category: "jwt", start, end: start + whole.length, score: 0.95 }, tail());
  }
  LONG_HEADER.lastIndex = 0;
  const run = LONG_HEADER.exec(window)?.[0] ?? "";
  if (!isCut || run.length < window.length || !/^\{[\s\S]*"alg"\s*:\s*"/.test(decoded(run) ?? "")) return null;
  return withTail(text, final, { category: "jwt", start, end: start + run.length, score: 0.9 }, tail());
}

const mayBegin = tokenSigns("eyJ", "eyA", "ewo");

/** JSON Web Tokens, signed or encrypted: the first part decodes to a header that names an algorithm. */
export const jwt: Detector = {
  check: "secrets",
  maxLength: WINDOW - 1,
  find: (text, from, to, final) =>
    mayBegin(text, from) ? scan(text, /(?<![A-Za-z0-9_-])(?:ey[JA]|ewo)[A-Za-z0-9_-]{8}/g, from, to, (at) => tokenAt(text, at, final)) : [],
  openFrom: openTokenFrom,
};
