import { hash } from "node:crypto";
import { LONGEST_TO_APPROVE } from "../../directory/tools/approvals.ts";

/** A string of nothing but base64, whose slashes may be escaped: longer than any path is, and without what separates words. */
const ENCODED = /(?<=[[{,:\s])"(?:data:[\w.+/;=-]{1,200};base64,)?([A-Za-z0-9+/\\_-]{4096,}={0,2})"/g;

/** What stands for a part that nobody could read. */
export interface DigestedPart {
  readonly bytes: number;
  /** Of the bytes, as anybody can compute it of the file they expect. */
  readonly sha256: string;
}

export interface ShownArguments {
  /** JSON, with each digested part as a text that tells its size and digest. */
  readonly text: string;
  readonly digested: readonly DigestedPart[];
}

/**
 * Arguments as an approver sees them: as they came, or where that is too much to look through with files in base64 by their
 * digests; null where even that is too much. The approval itself is for the arguments as they came.
 */
export function shownArguments(json: string): ShownArguments | null {
  if (json.length <= LONGEST_TO_APPROVE) return { text: json, digested: [] };
  const digested: DigestedPart[] = [];
  const text = json.replace(ENCODED, (whole, escaped: string) => {
    const encoded = escaped.replaceAll("\\/", "/");
    if (encoded.includes("\\")) return whole;
    const bytes = Buffer.from(encoded, "base64");
    const part = { bytes: bytes.byteLength, sha256: hash("sha256", bytes, "hex") };
    digested.push(part);
    return JSON.stringify(`(base64 of ${part.bytes} bytes, SHA-256 ${part.sha256})`);
  });
  return text.length > LONGEST_TO_APPROVE ? null : { text, digested };
}
