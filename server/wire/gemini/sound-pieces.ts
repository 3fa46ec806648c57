import type { JsonObject } from "../../kernel/json-value.ts";
import { partsOf } from "./answer-parts.ts";
import { objectIn, textIn } from "./members.ts";

const USUAL_RATE = 24_000;

/** The audio samples of one answer or event, and their sample rate in Hz; null if it contains none. */
export function samplesIn(answer: JsonObject): { readonly samples: Uint8Array; readonly rate: number } | null {
  const pieces = partsOf(answer).flatMap((part) => {
    const inline = objectIn(part, "inlineData");
    const type = inline === null ? null : textIn(inline, "mimeType");
    const data = inline === null ? null : textIn(inline, "data");
    return type === null || data === null || !/^audio\/(?:l16|pcm)\b/i.test(type) ? [] : [{ type, bytes: Buffer.from(data, "base64") }];
  });
  const [first] = pieces;
  if (first === undefined) return null;
  return { samples: Buffer.concat(pieces.map(({ bytes }) => bytes)), rate: Number(/rate=(\d{4,6})\b/.exec(first.type)?.[1] ?? USUAL_RATE) };
}
