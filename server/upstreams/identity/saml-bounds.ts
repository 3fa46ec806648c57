const MAX_BYTES = 128 * 1024;
const MAX_ELEMENTS = 1_000;

/**
 * The SAML answer without whitespace, if it is safe to parse; throws otherwise. The parser takes quadratic time in the number of elements.
 * Entities, comments and processing instructions can make parsers read a document differently, and no provider sends them.
 */
export function boundedSaml(encoded: string): string {
  if (encoded.length > (MAX_BYTES * 4) / 3 + 1_000) throw new Error(`the answer is larger than ${MAX_BYTES} bytes`);
  const plain = encoded.replaceAll(/\s/g, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(plain)) throw new Error("the answer is not base64");
  const bytes = Buffer.from(plain, "base64");
  if (bytes.byteLength > MAX_BYTES) throw new Error(`the answer is larger than ${MAX_BYTES} bytes`);
  const xml = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  let elements = 0;
  for (let at = xml.indexOf("<"); at >= 0; at = xml.indexOf("<", at + 1)) {
    const next = xml[at + 1];
    if (next === "!") throw new Error("the answer has a comment, a CDATA section or a declaration");
    if (next === "?" && at > 0) throw new Error("the answer has a processing instruction");
    if (next !== "/" && ++elements > MAX_ELEMENTS) throw new Error(`the answer has more than ${MAX_ELEMENTS} elements`);
  }
  return plain;
}
