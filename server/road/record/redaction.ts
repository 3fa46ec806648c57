/**
 * What the `redacted` mode removes from stored previews: personal data and credentials, recognised by shape. Works on wire text and
 * replaces only the values, so the rest stays readable. A text streamed in pieces is matched as a whole.
 */

const EMAIL = /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}]{2,24}/gu;
/** Every vendor's answers contain `"created": 1763712000`, which is nobody's number. */
const UNIX_TIME = String.raw`1[5-9]\d{8}`;
const IS_UNIX_TIME = new RegExp(`^${UNIX_TIME}$`);
/**
 * 9 to 19 digits with single spaces, dots or hyphens between: cards, phone numbers, social security numbers, accounts. Timestamps at the
 * end of a JSON member are not matched at all: every frame of a stream has one.
 */
const DIGITS = new RegExp(
  String.raw`(?<![\p{L}\p{N}_.-])(?!${UNIX_TIME}(?:[,}]|$))\+?\(?\d(?:[ .()-]{0,2}\d){8,18}(?![\p{L}\p{N}_])`,
  "gu",
);
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g;
const SECRET = new RegExp(
  String.raw`\b(?:sk_gw_api_[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{36,}|` +
    String.raw`github_pat_[A-Za-z0-9_]{60,}|(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}|AIza[A-Za-z0-9_-]{35}|` +
    String.raw`xox[abprs]-[A-Za-z0-9-]{10,}|eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})?)`,
  "g",
);
/**
 * Begins like a JWT but is none. Matched as a whole and kept: otherwise every such prefix in a long run of letters would be scanned to the
 * end of the run.
 */
const NO_TOKEN = /^eyJ[^.]*$/;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/**
 * Credentials that let a vendor call a tool server for the model; such tokens have no recognisable shape. In JSON nested in JSON strings,
 * every quote has the same number of backslashes before it, and a quote inside the value has more.
 */
const SAID_CREDENTIAL = /(\\{0,7})"(?:authorization(?:_token)?|x-api-key)\1"\s*:\s*\1"(?:[^"\\]|\\\1(?:\\\1|\1")?|(?!\1")\\)*(?:\1")?/gi;

const ESCAPED_UNIT = /\\{1,7}u([0-9a-f]{4})/gi;
const ESCAPED_SPACE = /\\[bfnrt]/g;
const IS_LETTER = /\p{L}/u;

/** Cheap pre-checks: most text matches none of these, and the full patterns cost more. */
const MAYBE_SECRET = /sk[-_]|gh[pousr]_|github_pat_|A[KSBC][IC]A|AIza|xox|eyJ/;
const MAYBE_CREDENTIAL = /authorization|x-api-key/i;
const MAYBE_DIGITS = new RegExp(String.raw`(?<!\d)(?!${UNIX_TIME}[,}])\d(?:[ .()-]{0,2}\d){8}`);
const MAYBE_IBAN = /[A-Z]{2}\d{2}/;

const HAS_DIGIT = /\d\d/;

interface Rule {
  readonly maybe: (text: string) => boolean;
  readonly pattern: RegExp;
  /** Null keeps the match. */
  readonly instead: (match: string) => string | null;
}

const RULES: readonly Rule[] = [
  {
    maybe: (text) => MAYBE_CREDENTIAL.test(text),
    pattern: SAID_CREDENTIAL,
    instead(match) {
      const quote = match.slice(0, match.indexOf('"') + 1);
      return `${match.slice(0, match.indexOf(":") + 1)}${quote}[secret]${quote}`;
    },
  },
  { maybe: (text) => text.includes("PRIVATE KEY-----"), pattern: PRIVATE_KEY, instead: () => "[private_key]" },
  { maybe: (text) => MAYBE_SECRET.test(text), pattern: SECRET, instead: (match) => (NO_TOKEN.test(match) ? null : "[secret]") },
  { maybe: (text) => text.includes("@"), pattern: EMAIL, instead: () => "[email]" },
  { maybe: (text) => HAS_DIGIT.test(text) && MAYBE_IBAN.test(text), pattern: IBAN, instead: () => "[iban]" },
  {
    maybe: (text) => HAS_DIGIT.test(text) && MAYBE_DIGITS.test(text),
    pattern: DIGITS,
    instead: (match) => (IS_UNIX_TIME.test(match) ? null : "[number]"),
  },
];

export function redact(text: string): string {
  return redactPieces([text])[0] ?? "";
}

/** `redact` for a text in pieces. A placeholder goes into the piece in which its value begins. */
export function redactPieces(pieces: readonly string[]): readonly string[] {
  let out = pieces;
  let text = pieces.join("");
  let read: string | null = null;
  for (const { maybe, pattern, instead } of RULES) {
    if (!maybe(text)) continue;
    read ??= withoutEscapes(text);
    const found: Found[] = [];
    for (const { index, 0: match } of read.matchAll(pattern)) {
      const to = index + match.length;
      const word = instead(text.slice(index, to));
      if (word !== null) found.push({ from: index, to, word });
    }
    if (found.length === 0) continue;
    out = replaced(out, found);
    text = out.join("");
    read = null;
  }
  return out;
}

/**
 * Replaces JSON escapes, at any nesting depth, by a letter or line breaks of the same length, so that the letters of an escape are not
 * taken for part of the value next to it and all positions stay the same.
 */
function withoutEscapes(text: string): string {
  if (!text.includes("\\")) return text;
  const spaced = text.replace(ESCAPED_SPACE, "\n\n");
  if (!spaced.includes("\\u")) return spaced;
  return spaced.replace(ESCAPED_UNIT, (escape, unit: string) =>
    (IS_LETTER.test(String.fromCharCode(Number.parseInt(unit, 16))) ? "é" : "\n").repeat(escape.length),
  );
}

interface Found {
  readonly from: number;
  readonly to: number;
  readonly word: string;
}

function replaced(pieces: readonly string[], found: readonly Found[]): string[] {
  let next = 0;
  let start = 0;
  return pieces.map((piece) => {
    const end = start + piece.length;
    let kept = "";
    let at = start;
    for (let match = found[next]; match !== undefined && match.from < end; match = found[next]) {
      if (match.from >= start) kept += piece.slice(at - start, match.from - start) + match.word;
      at = Math.min(match.to, end);
      if (match.to > end) break;
      next++;
    }
    kept += piece.slice(at - start);
    start = end;
    return kept;
  });
}
