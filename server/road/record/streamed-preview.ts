import { concat } from "../../wire/streams/adjoining-bytes.ts";
import type { Place } from "../../wire/texts/answer-texts.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import { type Frame, framingOf } from "../output/frames.ts";
import { redact, redactPieces } from "./redaction.ts";

/** Members that hold pieces of text, in the frames of any format. */
const TEXT =
  /"(?:content|text|delta|arguments|partial_json|input|thinking|reasoning|reasoning_content|refusal|transcript)" ?: ?"([^"\\]*(?:\\.[^"\\]*)*)"/g;
const decoder = new TextDecoder();
/** Several texts may be interleaved. */
const SEVERAL = /index" ?: ?[1-9]/;

/**
 * The beginning of a streamed answer with its texts redacted. Values are found in the joined texts, because models send them in pieces.
 * Frames are parsed only if a quick check finds something to redact.
 */
export function redactedTexts(bytes: Uint8Array, { texts, framing }: OutputForm): string {
  const wire = decoder.decode(bytes);
  if (!maybeFound(wire)) return wire;
  const cut = framingOf(framing);
  const frames = cut.push(bytes);
  const channels = new Map<string, (Place & { readonly frame: Frame })[]>();
  const tokens: (() => void)[] = [];
  for (const frame of frames) {
    if (frame.body === null) continue;
    const contents = texts.contents(frame.body, false);
    const calls = contents.calls.flatMap(({ channel, place, form }) =>
      place === null || form !== "piece" ? [] : [{ channel: `call ${channel}`, ...place }],
    );
    for (const { channel, holder, key } of [...contents.pieces, ...calls]) {
      if (typeof holder[key] !== "string") continue;
      const places = channels.get(channel) ?? [];
      places.push({ holder, key, frame });
      channels.set(channel, places);
    }
    for (const { holder, key, without } of contents.tokens) {
      tokens.push(() => {
        holder[key] = without;
        frame.changed = true;
      });
    }
  }
  let changed = false;
  for (const places of channels.values()) {
    for (const [i, text] of redactPieces(places.map(({ holder, key }) => holder[key] as string)).entries()) {
      const { holder, key, frame } = places[i] as (typeof places)[number];
      if (holder[key] === text) continue;
      holder[key] = text;
      frame.changed = changed = true;
    }
  }
  if (!changed) return wire;
  for (const without of tokens) without();
  const rest = bytes.subarray(frames.reduce((length, frame) => length + frame.bytes.byteLength, 0));
  return decoder.decode(concat([...frames.map((frame) => cut.write(frame)), rest]));
}

function maybeFound(wire: string): boolean {
  if (SEVERAL.test(wire)) return true;
  let text = "";
  for (const { 1: piece } of wire.matchAll(TEXT)) text += piece;
  return redact(text) !== text;
}
