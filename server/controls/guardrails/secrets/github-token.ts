import type { Detector, DetectedSpan } from "../text/detector.ts";
import { scan, withTail } from "../text/scan.ts";
import { looksRandom } from "./looks-random.ts";
import { tokenSigns } from "./token-signs.ts";
import { openTokenFrom, TokenTail } from "./token-tail.ts";

/** `ghp_` and similar tokens have 36 characters; installation tokens may instead be `ghs_<app>_<JWT>`, about 520 characters. */
const CLASSIC = /gh[pousr]_([A-Za-z0-9]{36,80})/y;
const STATELESS = /ghs_[A-Za-z0-9]{1,20}_ey[A-Za-z0-9_-]{10}/y;
const FINE_GRAINED = /github_pat_([A-Za-z0-9]{22}_[A-Za-z0-9]{48})/y;

function first(text: string, start: number, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = start;
  return pattern.exec(text);
}

function tokenAt(text: string, start: number, final: boolean): DetectedSpan | null {
  const stateless = first(text, start, STATELESS);
  if (stateless !== null) {
    return withTail(
      text,
      final,
      { category: "github_token", start, end: start + stateless[0].length, score: 0.95 },
      new TokenTail(/[A-Za-z0-9_.-]/),
    );
  }
  const token = first(text, start, CLASSIC) ?? first(text, start, FINE_GRAINED);
  if (token === null || !looksRandom(token[1] ?? "")) return null;
  return withTail(
    text,
    final,
    { category: "github_token", start, end: start + token[0].length, score: 0.95 },
    new TokenTail(/[A-Za-z0-9_]/),
  );
}

const mayBegin = tokenSigns("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_");

/** GitHub tokens: classic and fine-grained personal tokens, OAuth, app, app user and refresh tokens. */
export const githubToken: Detector = {
  check: "secrets",
  maxLength: 85,
  find: (text, from, to, final) =>
    mayBegin(text, from) ? scan(text, /(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_)/g, from, to, (at) => tokenAt(text, at, final)) : [],
  openFrom: openTokenFrom,
};
