import type { TextUnit } from "./text-positions.ts";
import type { JsonObject } from "../../kernel/json-value.ts";

/** The location of a string in a parsed answer. */
export interface Place {
  readonly holder: Record<string | number, unknown>;
  readonly key: string | number;
}

/** A piece of a text in an answer: the pieces of one channel, concatenated in order, are one text. */
export interface TextPiece extends Place {
  readonly channel: string;
  /** Texts of one flow are consecutive blocks that are read as one text; absent if the text stands alone. */
  readonly flow?: string;
  /** Set if it is in a member unknown to the format. */
  readonly other?: true;
}

/** A complete text: either repeated after its pieces, or never streamed in pieces. */
export interface WholeText extends Place {
  readonly kind: "text" | "arguments";
  /** As in a piece; meaningless for a repeated text. */
  readonly flow?: string;
}

/** A text in a member unknown to the format, or the name of such a member, which is then the key of the place. */
export interface OtherText extends Place {
  readonly kind: "text" | "name";
  /** Its path in the body, or in each frame. */
  readonly way: string;
}

/**
 * A tool call, or a piece of one. `form` describes the arguments in `place`: `piece`, the next piece of their JSON text;
 * `whole`, all of it; `object`, a parsed value.
 */
export interface CallPiece {
  /** Identifies the call. */
  readonly channel: string;
  /** Calls of one group are released together. */
  readonly group: string;
  /** The call ID, if this piece has one: some servers use one index for all calls, which only the ID then tells apart. */
  readonly id?: string | null;
  /** Null if another piece of the call names the tool. */
  readonly name: string | null;
  /** Null if the piece has no arguments. */
  readonly place: Place | null;
  readonly form: "piece" | "whole" | "object";
  /** True if the input is free-form text instead of JSON. */
  readonly freeform?: boolean;
  /** True if the call awaits the caller's approval and will be reported again once made. */
  readonly proposed?: boolean;
  /** True if the arguments arrive as parts that do not form one JSON text, so that they cannot be inspected. */
  readonly scattered?: boolean;
}

/** A passage of a text, told by its positions in members of `holder`. Changing the text changes where it is. */
export interface CitedPassage {
  readonly holder: Record<string | number, unknown>;
  /** The members with the positions; the same one for a passage that is a point. */
  readonly start: string;
  readonly end: string;
  readonly unit: TextUnit;
  /** The member that repeats the passage, if there is one. */
  readonly repeats?: string;
  /** The text, by the channel of its pieces. */
  readonly channel: string;
  /** All of the text, if it is in the same body; null if it came in pieces. */
  readonly places: readonly Place[] | null;
}

/** What a caller would read in an answer or in one frame of it. Changing a place changes the body. */
export interface AnswerContents {
  readonly pieces: readonly TextPiece[];
  readonly wholes: readonly WholeText[];
  readonly calls: readonly CallPiece[];
  /** Only if requested (`other-answer-texts.ts`). */
  readonly others: readonly OtherText[];
  /** Prefixes of the channels and groups that end with this frame; "" ends all. */
  readonly ends: readonly string[];
  /** The subset of `ends` after which the answer may continue: some providers send a finish reason in every frame. */
  readonly finishes: readonly string[];
  /** Members that repeat the text token by token (log probabilities), each with its replacement. */
  readonly tokens: readonly (Place & { readonly without: unknown })[];
  readonly passages: readonly CitedPassage[];
}

/** Finds the texts in answers of one format, whole or streamed. Stateless, and lenient with what providers send. */
export interface AnswerTexts {
  /** `whole`: whether the body is a complete answer rather than a frame. */
  contents(body: JsonObject, whole: boolean): ContentsList;
  /** Turns a copy of a frame into one that only continues its texts, by removing what may occur only once. */
  continuation(body: JsonObject): void;
  /** The member that numbers frames, if the format has one. */
  readonly counter: string | null;
}

/** Shared, because these lists are empty for most frames. */
const NONE: readonly never[] = [];

/** Collects an answer's contents; see `AnswerContents` for the lists. */
export class ContentsList implements AnswerContents {
  readonly pieces: TextPiece[] = [];
  readonly wholes: WholeText[] = [];
  readonly calls: CallPiece[] = [];
  others: readonly OtherText[] = NONE;
  readonly ends: string[] = [];
  readonly finishes: string[] = [];
  readonly tokens: (Place & { readonly without: unknown })[] = [];
  passages: readonly CitedPassage[] = NONE;
  /** Objects whose texts continue from frame to frame, with the number that prefixes their channels. */
  deltas: readonly { readonly holder: object; readonly index: number }[] = NONE;
  /** Members known to contain bytes. */
  bytes: readonly Place[] = NONE;
  /** Members that repeat the request. */
  repeated: readonly Place[] = NONE;
  /** Whether the body is nested too deeply to be inspected. */
  tooDeep = false;

  /** Adds `holder[key]` as a piece of `channel` if it is a string; an empty one is a place where text can be added. */
  piece(channel: string, holder: object, key: string | number, flow?: string): void {
    const places = holder as Record<string | number, unknown>;
    if (typeof places[key] === "string") this.pieces.push({ channel, holder: places, key, ...(flow !== undefined && { flow }) });
  }

  whole(holder: object, key: string | number, kind: WholeText["kind"] = "text", flow?: string): void {
    const places = holder as Record<string | number, unknown>;
    if (typeof places[key] === "string" && places[key] !== "")
      this.wholes.push({ holder: places, key, kind, ...(flow !== undefined && { flow }) });
  }

  delta(holder: object, index: number): void {
    const delta = { holder, index };
    if (this.deltas === NONE) this.deltas = [delta];
    else (this.deltas as (typeof delta)[]).push(delta);
  }

  other(text: OtherText): void {
    if (this.others === NONE) this.others = [text];
    else (this.others as OtherText[]).push(text);
  }

  cited(passage: CitedPassage): void {
    if (this.passages === NONE) this.passages = [passage];
    else (this.passages as CitedPassage[]).push(passage);
  }

  bytesAt(holder: object, key: string | number): void {
    this.bytes = added(this.bytes, holder, key);
  }

  repeats(holder: object, key: string | number): void {
    this.repeated = added(this.repeated, holder, key);
  }

  /** Adds a piece in a delta's member that is unknown to the format. */
  otherPiece(channel: string, holder: object, key: string): void {
    this.pieces.push({ channel, holder: holder as Record<string | number, unknown>, key, flow: channel, other: true });
  }

  /** Ends the channels and groups with this prefix, because of a finish reason. */
  finish(prefix: string): void {
    this.ends.push(prefix);
    this.finishes.push(prefix);
  }

  /** Adds a member with log probabilities, unless it is empty. */
  token(holder: object, key: string, without: unknown): void {
    const places = holder as Record<string | number, unknown>;
    const value = places[key];
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return;
    this.tokens.push({ holder: places, key, without });
  }
}

/** Appends a place, replacing the shared empty list by a new one. */
function added(places: readonly Place[], holder: object, key: string | number): readonly Place[] {
  const place = { holder: holder as Record<string | number, unknown>, key };
  if (places === NONE) return [place];
  (places as Place[]).push(place);
  return places;
}
