import { lastWordFrom } from "../text/characters.ts";
import { type DetectedSpan, type Detector, WINDOW } from "../text/detector.ts";

const CREDENTIALS = /[^\s/@:?#"'<>()[\]{}]{1,30}:[^\s/@?#"'<>]{1,62}(?=@[\p{L}\p{N}[])/uy;
/** Names of variables and words that stand for a password. */
const NO_PASSWORD = /:(?:\$|%|\*+$|x+$|\.+$|(?:your[_-]?)?(?:password|passwd|pass|secret|pw|token)$)/i;

/** The user and password of a URL (`postgres://app:s3cret@db`). */
export const urlCredentials: Detector = {
  check: "pii",
  maxLength: WINDOW - 1,
  find(text, from, to) {
    const found: DetectedSpan[] = [];
    for (let at = text.indexOf("://", Math.max(0, from - 3)); at >= 0 && at + 3 < to; at = text.indexOf("://", at + 1)) {
      const start = at + 3;
      if (start < from) continue;
      CREDENTIALS.lastIndex = start;
      const written = CREDENTIALS.exec(text)?.[0];
      if (written !== undefined && !NO_PASSWORD.test(written))
        found.push({ category: "url_credentials", start, end: start + written.length, score: 0.9 });
    }
    return found;
  },
  openFrom: (text) => lastWordFrom(text, Math.max(0, text.length - WINDOW - 8)),
};
