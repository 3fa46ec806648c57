/**
 * What the `redacted` mode takes out of stored previews: personal data and credentials by their shape. It works on
 * wire text, so a value is replaced where it stands and the text around it stays readable; what a streamed answer tells
 * in pieces is looked at as the one text it is.
 */

const EMAIL = /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}]{2,24}/gu;
/** `"created": 1763712000` stands in every vendor answer and is no one's number. */
const UNIX_TIME = String.raw`1[5-9]\d{8}`;
const IS_UNIX_TIME = new RegExp(`^${UNIX_TIME}$`);
/**
 * 9 to 19 digits, singly separated by space, dot or hyphen: cards, phone numbers, social security numbers, accounts.
 * Times that end as members do are not matched at all: a stream has one in each of its frames.
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
 * What begins like a signed token and goes on as none. It is matched whole, and left as it is: else every such beginning
 * in a long run of letters would be followed to the run's end.
 */
const NO_TOKEN = /^eyJ[^.]*$/;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/**
 * What opens a tool server to a vendor that asks it for the model: such a token has no shape of its own. In JSON within
 * a string of JSON each quote stands behind the same number of backslashes, and one within the value behind more.
 */
const SAID_CREDENTIAL = /(\\{0,7})"(?:authorization(?:_token)?|x-api-key)\1"\s*:\s*\1"(?:[^"\\]|\\\1(?:\\\1|\1")?|(?!\1")\\)*(?:\1")?/gi;

const ESCAPED_UNIT = /\\{1,7}u([0-9a-f]{4})/gi;
const ESCAPED_SPACE = /\\[bfnrt]/g;
const IS_LETTER = /\p{L}/u;

/** A cheap question first: most text has none of these, and the patterns cost more than the look. */
const MAYBE_SECRET = /sk[-_]|gh[pousr]_|github_pat_|A[KSBC][IC]A|AIza|xox|eyJ/;
const MAYBE_CREDENTIAL = /authorization|x-api-key/i;
const MAYBE_DIGITS = new RegExp(String.raw`(?<!\d)(?!${UNIX_TIME}[,}])\d(?:[ .()-]{0,2}\d){8}`);
const MAYBE_IBAN = /[A-Z]{2}\d{2}/;

const HAS_DIGIT = /\d\d/;

interface Rule {
  readonly maybe: (text: string) => boolean;
  readonly pattern: RegExp;
  /** Null leaves a match as it is. */
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

/** `redact` for a text in pieces: a placeholder stands in the piece its value begins in. */
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
 * The text with each escape of JSON, at any depth, as what it means to the patterns, so that its letters are not taken
 * for a part of the value beside it: a letter or a line break, as often as the escape is long. So all stands where it stood.
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
