/**
 * What a spreadsheet would run or take for a formula, after the spaces and unseen characters some of them skip. Some take
 * the full-width, small and raised forms of the signs for the signs.
 */
const FORMULA = /^[\s\0\p{Cf}]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u207a-\u207c\u208a-\u208c\u2212]/u;

/**
 * One cell of RFC 4180; what is absent has nothing between its commas, an empty text its quotes. A text that would be a
 * formula is preceded by an apostrophe, which spreadsheets take for "text follows".
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return safe === "" || /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
