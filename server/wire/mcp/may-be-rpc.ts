/** The name that every message has, each letter as it is or as an escape; in UTF-16 and UTF-32 NULs stand between. */
const NAME = new RegExp([..."jsonrpc"].map(spelled).join("\\0*"), "i");

function spelled(letter: string): string {
  const [high, low] = letter.charCodeAt(0).toString(16);
  // A capital letter stands two rows above.
  return `(?:${letter}|${["\\\\", "u", "0", "0", `[${high}${Number(high) - 2}]`, low].join("\\0*")})`;
}

/** Whether some reader may find a message of the protocol in it. One search: the bytes can be many, and nobody has to be let in yet. */
export function mayBeRpc(body: Uint8Array): boolean {
  return NAME.test(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1"));
}
