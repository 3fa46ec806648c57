/**
 * What the `redacted` mode takes out of stored previews: personal data and credentials by their shape. It works on
 * wire text, so a value is replaced where it stands and the text around it stays readable.
 */

const EMAIL = /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}]{2,24}/gu;
/** `"created": 1763712000` stands in every vendor answer and is no one's number. */
const UNIX_TIME = String.raw`1[5-9]\d{8}`;
const IS_UNIX_TIME = new RegExp(`^${UNIX_TIME}$`);
/**
 * 9 to 19 digits, singly separated by space, dot or hyphen: cards, phone numbers, social security numbers, accounts.
 * Times that end as members do are not matched at all: a stream has one in each of its frames.
 */
const DIGITS = new RegExp(String.raw`(?<![\p{L}\p{N}_.-])(?!${UNIX_TIME}(?:[,}]|$))\+?\(?\d(?:[ .()-]{0,2}\d){8,18}(?![\p{L}\p{N}_])`, "gu");
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g;
const SECRET =
  /\b(?:sk_gw_api_[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,}|(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}|AIza[A-Za-z0-9_-]{35}|xox[abprs]-[A-Za-z0-9-]{10,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})/g;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** A cheap question first: most text has none of these, and the patterns cost more than the look. */
const MAYBE_SECRET = /sk[-_]|gh[pousr]_|github_pat_|A[KSBC][IC]A|AIza|xox|eyJ/;
const MAYBE_DIGITS = /\d[ .()-]{0,2}\d[ .()-]{0,2}\d[ .()-]{0,2}\d[ .()-]{0,2}\d[ .()-]{0,2}\d/;
const MAYBE_IBAN = /[A-Z]{2}\d{2}/;

export function redact(text: string): string {
  let out = text;
  if (out.includes("PRIVATE KEY-----")) out = out.replace(PRIVATE_KEY, "[private_key]");
  if (MAYBE_SECRET.test(out)) out = out.replace(SECRET, "[secret]");
  if (out.includes("@")) out = out.replace(EMAIL, "[email]");
  if (!HAS_DIGIT.test(out)) return out;
  if (MAYBE_IBAN.test(out)) out = out.replace(IBAN, "[iban]");
  if (MAYBE_DIGITS.test(out)) out = out.replace(DIGITS, (match) => (IS_UNIX_TIME.test(match) ? match : "[number]"));
  return out;
}

const HAS_DIGIT = /\d\d/;
