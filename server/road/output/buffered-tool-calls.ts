import type { CallPiece } from "../../wire/answer-texts.ts";
import type { JsonValue } from "../../wire/document.ts";
import type { Frame } from "./frames.ts";

/** More than any tool takes: what is held must stay bounded. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

/** A tool call as its pieces make it. */
export class BufferedToolCall {
  id: string | null = null;
  name: string | null = null;
  arguments = "";
  freeform = false;
  /** Whether two tellings of the arguments differ: then callers must get one. */
  contradicted = false;
  private readonly pieces: CallPiece[] = [];

  add(piece: CallPiece): void {
    const { name, place, form } = piece;
    this.id ??= piece.id ?? null;
    this.name ??= name;
    this.freeform ||= piece.freeform === true;
    if (place === null) return;
    this.pieces.push(piece);
    const value = place.holder[place.key];
    if (form === "piece") {
      if (typeof value === "string") this.arguments += value;
      return;
    }
    const all = form === "object" ? JSON.stringify(value) : typeof value === "string" ? value : "";
    if (all === "") return;
    if (this.arguments !== "" && this.arguments !== all) this.contradicted = true;
    this.arguments = all;
  }

  /** Whether its arguments are a whole JSON text: nothing more belongs to them. */
  get isWhole(): boolean {
    try {
      JSON.parse(this.arguments);
      return true;
    } catch {
      return false;
    }
  }

  /** Says the arguments anew in every place that tells them. */
  rewrite(text: string): void {
    this.arguments = text;
    let told = false;
    for (const { place, form } of this.pieces) {
      if (place === null) continue;
      if (form === "whole") place.holder[place.key] = text;
      else if (form === "object") place.holder[place.key] = JSON.parse(text) as JsonValue;
      else {
        place.holder[place.key] = told ? "" : text;
        told = true;
      }
    }
  }
}

/** Calls whose frames wait together until all of them are complete. */
export class CallGroup {
  readonly open = new Set<string>();
  readonly calls: BufferedToolCall[] = [];
  /** The newest call of each channel. */
  private readonly newest = new Map<string, BufferedToolCall>();
  readonly frames: Frame[] = [];
  private bytes = 0;

  get tooLarge(): boolean {
    return this.bytes > MAX_HELD_BYTES;
  }

  add(frame: Frame, pieces: readonly CallPiece[]): void {
    this.frames.push(frame);
    this.bytes += frame.bytes.byteLength;
    for (const piece of pieces) {
      let call = this.newest.get(piece.channel);
      // Some servers give every call the same index: a name with another id, or behind whole arguments, is that of another call.
      if (
        call === undefined ||
        (piece.form === "piece" && piece.name !== null && (call.isWhole || (piece.id != null && call.id !== null && piece.id !== call.id)))
      ) {
        call = new BufferedToolCall();
        this.newest.set(piece.channel, call);
        this.calls.push(call);
      }
      call.add(piece);
    }
  }

  /** Takes in another group that shares a frame with this one. */
  merge(other: CallGroup): void {
    for (const key of other.open) this.open.add(key);
    for (const [channel, call] of other.newest) this.newest.set(channel, call);
    this.calls.push(...other.calls);
    this.frames.push(...other.frames);
    this.bytes += other.bytes;
  }
}
