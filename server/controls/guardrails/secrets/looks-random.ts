/** Words and repetitions that documentation uses in place of a key. */
const PLACEHOLDER = /example|placeholder|redacted|changeme|dummy|your[-_a-z]|insert|([A-Za-z0-9*])\1{7}/i;

/** The sample token from the vendor's documentation. */
const DOCUMENTED = new Set(["16C7e42F292c6912E7710c838347Ae178B4a"]);

/** Whether `token` could be random: no placeholder word, no long repetition, enough distinct characters. */
export function looksRandom(token: string): boolean {
  return !PLACEHOLDER.test(token) && !DOCUMENTED.has(token) && new Set(token).size >= Math.min(10, token.length / 3);
}
