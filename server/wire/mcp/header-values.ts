const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;
const SENTINEL = /^=\?base64\?(.*)\?=$/;

/** Encodes a value for a header as the stateless dialect requires: plain, or base64 between markers. */
export function headerValue(text: string): string {
  return PLAIN.test(text) && !SENTINEL.test(text) ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

/** Decodes a header value; null if it is invalid. */
export function fromHeaderValue(value: string): string | null {
  const encoded = SENTINEL.exec(value)?.[1];
  if (encoded === undefined) return value;
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(encoded, "base64"));
  } catch {
    return null;
  }
}
