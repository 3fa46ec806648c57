import { hash } from "node:crypto";
import { LONGEST_TO_APPROVE } from "../../directory/tools/approvals.ts";

/**
 * A string of nothing but base64, or an address that holds one, whose slashes may be escaped: longer than any path is, and without
 * what separates words.
 */
const ENCODED = /(?<=[[{,:\s]")((?:data:(?:[\w.+/;=-]|\\\/){1,200};base64,)?)([A-Za-z0-9+/\\_-]{4096,}={0,2})(?=")/g;

/** Replaces a part that no approver could read by its digest. */
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

/** Where in the arguments the base64 of a file stands, from the end of the address that says of what type it is. */
interface Encoded {
  readonly from: number;
  readonly to: number;
}

/**
 * Arguments as an approver sees them: as they came, or where that is too much to look through with files in base64 by their
 * digests, the longest first and no more than it takes; null where even that is too much. The approval itself is for the arguments
 * as they came.
 */
export function shownArguments(json: string): ShownArguments | null {
  if (json.length <= LONGEST_TO_APPROVE) return { text: json, digested: [] };
  const longest = Array.from(json.matchAll(ENCODED), placeOf).sort((one, other) => other.to - other.from - (one.to - one.from));
  const taken: { readonly place: Encoded; readonly note: string; readonly part: DigestedPart }[] = [];
  let length = json.length;
  for (const place of longest) {
    if (length <= LONGEST_TO_APPROVE) break;
    const read = readPart(json.slice(place.from, place.to));
    if (read === null) continue;
    taken.push({ place, ...read });
    length += read.note.length - (place.to - place.from);
  }
  if (length > LONGEST_TO_APPROVE) return null;
  taken.sort((one, other) => one.place.from - other.place.from);
  let shown = "";
  let at = 0;
  for (const { place, note } of taken) {
    shown += json.slice(at, place.from) + note;
    at = place.to;
  }
  return { text: shown + json.slice(at), digested: taken.map(({ part }) => part) };
}

function placeOf({ 1: address = "", 2: encoded = "", index }: RegExpMatchArray): Encoded {
  const from = (index ?? 0) + address.length;
  return { from, to: from + encoded.length };
}

/** Null where readers may make different bytes of it: whoever carries the call out could get others than the digest tells. */
function readPart(escaped: string): { readonly note: string; readonly part: DigestedPart } | null {
  const encoded = escaped.replaceAll("\\/", "/").replace(/=+$/, "");
  const bytes = Buffer.from(encoded, "base64");
  const alphabet = (["base64", "base64url"] as const).find((one) => bytes.toString(one).replace(/=+$/, "") === encoded);
  if (alphabet === undefined) return null;
  const part = { bytes: bytes.byteLength, sha256: hash("sha256", bytes, "hex") };
  return { note: `(${alphabet} of ${part.bytes} bytes, SHA-256 ${part.sha256})`, part };
}
