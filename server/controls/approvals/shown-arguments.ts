import { hash } from "node:crypto";
import { MAX_TO_APPROVE_LENGTH } from "../../directory/tools/approvals.ts";

/**
 * A string of nothing but base64, optionally as a data URL, whose slashes may be escaped. At this length, without
 * spaces or dots, it is neither a path nor prose.
 */
const ENCODED = /(?<=[[{,:\s]")((?:data:(?:[\w.+/;=-]|\\\/){1,200};base64,)?)([A-Za-z0-9+/\\_-]{4096,}={0,2})(?=")/g;

/** A part of the arguments that no approver could read, replaced by its digest. */
export interface DigestedPart {
  readonly bytes: number;
  /** Hex digest of the decoded bytes, as anybody can compute it from the file. */
  readonly sha256: string;
}

export interface ShownArguments {
  /** JSON in which each digested part is replaced by a note with its size and digest. */
  readonly text: string;
  readonly digested: readonly DigestedPart[];
}

/** Range of a file's base64 in the arguments, after the data URL's prefix if there is one. */
interface Encoded {
  readonly from: number;
  readonly to: number;
}

/**
 * Arguments as an approver sees them: unchanged if short enough, otherwise with base64 files replaced by their digests, longest
 * first and only as many as needed; null if the result is still too long. The approval itself always covers the original arguments.
 */
export function shownArguments(json: string): ShownArguments | null {
  if (json.length <= MAX_TO_APPROVE_LENGTH) return { text: json, digested: [] };
  const longest = Array.from(json.matchAll(ENCODED), placeOf).sort((one, other) => other.to - other.from - (one.to - one.from));
  const taken: { readonly place: Encoded; readonly note: string; readonly part: DigestedPart }[] = [];
  let length = json.length;
  for (const place of longest) {
    if (length <= MAX_TO_APPROVE_LENGTH) break;
    const read = readPart(json.slice(place.from, place.to));
    if (read === null) continue;
    taken.push({ place, ...read });
    length += read.note.length - (place.to - place.from);
  }
  if (length > MAX_TO_APPROVE_LENGTH) return null;
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

/** Null if decoders may disagree about the bytes: the tool server could then receive other bytes than the digest describes. */
function readPart(escaped: string): { readonly note: string; readonly part: DigestedPart } | null {
  const encoded = escaped.replaceAll("\\/", "/").replace(/=+$/, "");
  const bytes = Buffer.from(encoded, "base64");
  const alphabet = (["base64", "base64url"] as const).find((one) => bytes.toString(one).replace(/=+$/, "") === encoded);
  if (alphabet === undefined) return null;
  const part = { bytes: bytes.byteLength, sha256: hash("sha256", bytes, "hex") };
  return { note: `(${alphabet} of ${part.bytes} bytes, SHA-256 ${part.sha256})`, part };
}
