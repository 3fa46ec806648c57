import type { CallPiece, Place } from "../../wire/texts/answer-texts.ts";
import type { JsonValue } from "../../kernel/json-value.ts";
import { exactArguments } from "../../wire/json/exact-tools.ts";
import { WholeArguments } from "../../wire/json/whole-arguments.ts";
import type { Frame } from "./frames.ts";
import { textAround } from "./text-around.ts";

/** Limit on what is held, larger than any tool accepts. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
/** Limit on held frames that could not be merged: each takes many times its bytes. */
const MAX_HELD_FRAMES = 16_384;
/** From this many frames on, frames that differ only in their piece of arguments are merged. */
const JOINED_FROM = 512;

/** A tool call assembled from its pieces. */
export class BufferedToolCall {
  id: string | null = null;
  name: string | null = null;
  /** The name as assembled by clients that concatenate every name they receive. */
  spelled = "";
  arguments = "";
  freeform = false;
  /** Whether the answer gives the arguments twice with different values; both must be unified for the caller. */
  contradicted = false;
  private readonly pieces: Pick<CallPiece, "place" | "form">[] = [];
  private wholeness = new WholeArguments();

  /** `written`: serialises a value of the piece as JSON. */
  add(piece: CallPiece, written: (value: unknown) => string): void {
    const { name, place } = piece;
    this.id ??= piece.id ?? null;
    this.name ??= name;
    if (name !== null && name !== this.spelled) this.spelled += name;
    const value = place?.holder[place.key] ?? null;
    // Some servers send arguments as an object, whatever the format says.
    const isValue = value !== null && typeof value !== "string";
    this.freeform ||= piece.freeform === true && !isValue;
    if (place === null) return;
    const form = isValue ? "object" : piece.form;
    this.pieces.push({ place, form });
    if (form === "piece") {
      if (typeof value === "string") this.append(value);
      return;
    }
    const all = value === null ? "" : form === "object" ? written(value) : (value as string);
    if (all === "") return;
    if (this.arguments !== "" && this.arguments !== all) this.contradicted = true;
    this.replace(all);
  }

  append(text: string): void {
    this.arguments += text;
    this.wholeness.push(text);
  }

  private replace(text: string): void {
    this.arguments = text;
    this.wholeness = new WholeArguments();
    this.wholeness.push(text);
  }

  /** Whether the arguments are a complete JSON text, so that nothing more belongs to them. */
  get isWhole(): boolean {
    return this.wholeness.isWhole(this.arguments);
  }

  /** Replaces the arguments in every place that states them. */
  rewrite(text: string): void {
    this.replace(text);
    let isReported = false;
    for (const { place, form } of this.pieces) {
      if (place === null) continue;
      if (form === "whole") place.holder[place.key] = text;
      else if (form === "object") place.holder[place.key] = valueOf(text);
      else {
        place.holder[place.key] = isReported ? "" : text;
        isReported = true;
      }
    }
  }
}

function valueOf(json: string): JsonValue {
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    // One of two contradicting values is not JSON: both become the same text.
    return json;
  }
}

/** Calls whose frames are held until all of them are complete. */
export class CallGroup {
  readonly open = new Set<string>();
  readonly calls: BufferedToolCall[] = [];
  /** The latest call of each channel. */
  private readonly newest = new Map<string, BufferedToolCall>();
  readonly frames: Frame[] = [];
  private bytes = 0;
  /** The last frame if it carries a single piece of arguments: the place of the piece and the rest of the frame. */
  private last: { readonly place: Place; readonly call: BufferedToolCall; readonly around: string } | null = null;

  get tooLarge(): boolean {
    return this.bytes > MAX_HELD_BYTES || this.frames.length > MAX_HELD_FRAMES;
  }

  /** `frame` carries `pieces`. */
  add(frame: Frame, pieces: readonly CallPiece[]): void {
    if (this.frames.length >= JOINED_FROM && this.joins(frame, pieces)) return;
    this.frames.push(frame);
    this.bytes += frame.bytes.byteLength;
    const written = exactArguments(frame);
    for (const piece of pieces) {
      let call = this.newest.get(piece.channel);
      // Some servers give every call the same index: a name with a different ID, or after complete arguments, starts another call.
      if (
        call === undefined ||
        (piece.form === "piece" && piece.name !== null && (call.isWhole || (piece.id != null && call.id !== null && piece.id !== call.id)))
      ) {
        call = new BufferedToolCall();
        this.newest.set(piece.channel, call);
        this.calls.push(call);
      }
      call.add(piece, written);
    }
  }

  /**
   * Merges the frame's piece into the previous frame if possible, and returns whether it did. Otherwise remembers the frame as a candidate
   * for the next one.
   */
  private joins(frame: Frame, pieces: readonly CallPiece[]): boolean {
    const [piece] = pieces;
    const { last } = this;
    this.last = null;
    if (frame.changed || frame.body === null || pieces.length !== 1 || piece?.form !== "piece" || piece.place === null) return false;
    const { place, channel } = piece;
    const value = place.holder[place.key];
    const call = this.newest.get(channel);
    if (typeof value !== "string" || call === undefined || (piece.name !== null && call.isWhole)) return false;
    const around = textAround(frame.body, place);
    if (last === null || last.call !== call || last.around !== around) {
      this.last = { place, call, around };
      return false;
    }
    call.append(value);
    last.place.holder[last.place.key] = `${last.place.holder[last.place.key] as string}${value}`;
    (this.frames.at(-1) as Frame).changed = true;
    this.bytes += value.length;
    this.last = last;
    return true;
  }

  /** Absorbs another group that shares a frame with this one. */
  merge(other: CallGroup): void {
    this.last = null;
    for (const key of other.open) this.open.add(key);
    for (const [channel, call] of other.newest) this.newest.set(channel, call);
    this.calls.push(...other.calls);
    this.frames.push(...other.frames);
    this.bytes += other.bytes;
  }
}
