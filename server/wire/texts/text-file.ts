import { isUtf8Text } from "../../kernel/text/utf8-text.ts";

const TEXT_TYPE = new RegExp(
  String.raw`^(?:text\/|image\/svg\+xml\b|application\/(?:[\w.-]+\+(?:json|xml)|json|x-ndjson|jsonl|xml|csv|x-javascript|javascript|` +
    String.raw`typescript|x-python|x-httpd-php|x-sh|sql|rtf|x-tex|yaml|x-yaml|toml)\b)`,
  "i",
);

const TEXT_NAME =
  /\.(?:txt|text|md|markdown|csv|tsv|jsonl?|ndjson|xml|html?|ya?ml|toml|ini|log|rtf|tex|sql|py|jsx?|tsx?|css|sh|c|h|cpp|cs|go|java|php|rb|rs)$/i;
/** Media types that rule out text, whatever the file name. */
const OTHER_TYPE = /^(?:image|audio|video|font)\/|^application\/(?:pdf|zip|gzip|msword|vnd\.)/i;

/** Whether a file is text for the model, by its media type or else its name. */
export function isTextFile(mediaType: string, name: string | null): boolean {
  const type = mediaType.trim();
  return TEXT_TYPE.test(type) || (name !== null && TEXT_NAME.test(name) && !OTHER_TYPE.test(type));
}

/** How many base64 characters are examined to detect text: a multiple of four. */
const HEAD = 5_464;

/** Decodes a file. */
export type ReadFile = (encoded: string) => Buffer;

/** Decodes base64 of either alphabet. Padding in the middle is skipped, as many decoders do; the others read only up to there. */
export function fromBase64(encoded: string): Buffer {
  return Buffer.from(/=[\w+/-]/.test(encoded) ? encoded.replaceAll("=", "") : encoded, "base64");
}

/** Decodes as receivers do that know only the standard alphabet and skip other characters. */
const fromPlainBase64: ReadFile = (encoded) => fromBase64(encoded.replaceAll(/[-_]/g, ""));

/** The ways in which receivers may decode a base64 file. The most common one is last, because the last replacement wins. */
export function base64Readers(encoded: string): readonly ReadFile[] {
  return /[-_]/.test(encoded) ? [fromPlainBase64, fromBase64] : [fromBase64];
}

/** Whether a file is inspected as text: if it is declared as text, or if its bytes are text and its type does not rule that out. */
export function isReadAsText(mediaType: string, name: string | null, encoded: string, readersOf = base64Readers): boolean {
  if (isTextFile(mediaType, name)) return true;
  if (encoded === "" || OTHER_TYPE.test(mediaType.trim())) return false;
  const isWhole = encoded.length <= HEAD;
  const head = isWhole ? encoded : encoded.slice(0, HEAD).replace(/%.?$/, "");
  return readersOf(head).some((read) => isUtf8Text(read(head), isWhole));
}
