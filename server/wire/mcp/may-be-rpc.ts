/** Matches `jsonrpc`, which every message contains, with any letter escaped, and in UTF-16 or UTF-32 (hence the NULs). */
const NAME = new RegExp([..."jsonrpc"].map(spelled).join("\\0*"), "i");

function spelled(letter: string): string {
  const [high, low] = letter.charCodeAt(0).toString(16);
  // The upper-case letter's code has the same last hex digit, and a first one lower by two.
  return `(?:${letter}|${["\\\\", "u", "0", "0", `[${high}${Number(high) - 2}]`, low].join("\\0*")})`;
}

/**
 * Whether some parser could find an MCP message in the bytes. A single regex search, because the body may be large and the
 * caller is not authenticated yet.
 */
export function mayBeRpc(body: Uint8Array): boolean {
  return NAME.test(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1"));
}
