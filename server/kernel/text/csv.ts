/**
 * Text that a spreadsheet would take for a formula, after spaces and invisible characters that some of them skip. Some accept full-width,
 * small and raised forms of the signs.
 */
const FORMULA = /^[\s\0\p{Cf}]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u207a-\u207c\u208a-\u208c\u2212]/u;

/**
 * One cell of RFC 4180; absent values are empty, empty texts are quoted. A text that would be a formula gets an apostrophe in front, which
 * spreadsheets read as "text follows".
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return safe === "" || /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
