import { isUtf8Text } from "../../kernel/text/utf8-text.ts";

const TEXT_TYPE = new RegExp(
  String.raw`^(?:text\/|image\/svg\+xml\b|application\/(?:[\w.-]+\+(?:json|xml)|json|x-ndjson|jsonl|xml|csv|x-javascript|javascript|` +
    String.raw`typescript|x-python|x-httpd-php|x-sh|sql|rtf|x-tex|yaml|x-yaml|toml)\b)`,
  "i",
);

const TEXT_NAME =
  /\.(?:txt|text|md|markdown|csv|tsv|jsonl?|ndjson|xml|html?|ya?ml|toml|ini|log|rtf|tex|sql|py|jsx?|tsx?|css|sh|c|h|cpp|cs|go|java|php|rb|rs)$/i;
/** Types that say what the bytes are, whatever the file is called. */
const OTHER_TYPE = /^(?:image|audio|video|font)\/|^application\/(?:pdf|zip|gzip|msword|vnd\.)/i;

/** Whether a file is a text that the model reads like any other: its media type says so, else its name. */
export function isTextFile(mediaType: string, name: string | null): boolean {
  const type = mediaType.trim();
  return TEXT_TYPE.test(type) || (name !== null && TEXT_NAME.test(name) && !OTHER_TYPE.test(type));
}

/** How much of an encoded file is looked at to see what it is: whole groups of base64. */
const HEAD = 5_464;

/** How an encoded file is read. */
export type ReadFile = (encoded: string) => Buffer;

/** Base64 of either alphabet. Padding that does not end it is passed over, as many decoders do; others read no more than this. */
export function fromBase64(encoded: string): Buffer {
  return Buffer.from(/=[\w+/-]/.test(encoded) ? encoded.replaceAll("=", "") : encoded, "base64");
}

/** As decoders have it that know one alphabet, and pass over what is not in it. */
const fromPlainBase64: ReadFile = (encoded) => fromBase64(encoded.replaceAll(/[-_]/g, ""));

/** How the base64 of a file may be read. What nearly everybody makes of it comes last: it stays where each is written anew. */
export function base64Readers(encoded: string): readonly ReadFile[] {
  return /[-_]/.test(encoded) ? [fromPlainBase64, fromBase64] : [fromBase64];
}

/** Whether a file is looked into: nobody has to say what it is where its bytes are text and its type is not of something else. */
export function isReadAsText(mediaType: string, name: string | null, encoded: string, readersOf = base64Readers): boolean {
  if (isTextFile(mediaType, name)) return true;
  if (encoded === "" || OTHER_TYPE.test(mediaType.trim())) return false;
  const isWhole = encoded.length <= HEAD;
  const head = isWhole ? encoded : encoded.slice(0, HEAD).replace(/%.?$/, "");
  return readersOf(head).some((read) => isUtf8Text(read(head), isWhole));
}
