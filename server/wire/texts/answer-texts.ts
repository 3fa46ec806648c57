import type { JsonObject } from "../../kernel/json-value.ts";

/** Where a string stands in a parsed answer. */
export interface Place {
  readonly holder: Record<string | number, unknown>;
  readonly key: string | number;
}

/** A piece of one text of the answer: the pieces of a channel, in the order they come, are one text. */
export interface TextPiece extends Place {
  readonly channel: string;
  /** Texts of one flow are blocks of what is read as one text, in the order they come; nothing when left out. */
  readonly flow?: string;
  /** It stands in a member that no format knows. */
  readonly other?: true;
}

/** A text that is complete where it stands: said again after its pieces, or never in pieces. */
export interface WholeText extends Place {
  readonly kind: "text" | "arguments";
  /** As of a piece; of a text that is said again it means nothing. */
  readonly flow?: string;
}

/** A text in a member that no format knows, or the `name` of such a member, which then is the key of the place. */
export interface OtherText extends Place {
  readonly kind: "text" | "name";
  /** Where in the body, or in each frame, it stands. */
  readonly way: string;
}

/**
 * A tool call, or a piece of one. `piece`: the place holds the next piece of the arguments; `whole`: all of them as JSON
 * text; `object`: all of them as the value they are.
 */
export interface CallPiece {
  /** One call. */
  readonly channel: string;
  /** Calls of one group are handed on together. */
  readonly group: string;
  /** Where the piece says it: some servers give all calls of an answer one place, and only this tells them apart. */
  readonly id?: string | null;
  /** Null where another piece of the call says it. */
  readonly name: string | null;
  /** Null where the piece has no arguments. */
  readonly place: Place | null;
  readonly form: "piece" | "whole" | "object";
  /** A text of the tool's own instead of JSON. */
  readonly freeform?: boolean;
  /** It is not made yet: the caller is asked whether it may be, and it is told again when it was. */
  readonly proposed?: boolean;
  /** Arguments come in parts that are no JSON text together: nobody can judge them. */
  readonly scattered?: boolean;
}

/** What of an answer, or of one frame of it, a caller would read. Whoever changes a place changes the body. */
export interface AnswerContents {
  readonly pieces: readonly TextPiece[];
  readonly wholes: readonly WholeText[];
  readonly calls: readonly CallPiece[];
  /** Only where they were asked for (`other-answer-texts.ts`). */
  readonly others: readonly OtherText[];
  /** Prefixes of channels and groups that end with this frame; "" ends all. */
  readonly ends: readonly string[];
  /** Those of `ends` that the answer may go on after: some providers tell a reason to finish in every frame. */
  readonly finishes: readonly string[];
  /** Members that tell the text once more token by token, each with what takes its place. */
  readonly tokens: readonly (Place & { readonly without: unknown })[];
}

/** How the answers of one format hold their texts, whole or in frames. Pure; lenient with what providers send. */
export interface AnswerTexts {
  /** `whole`: a complete answer instead of a frame. */
  contents(body: JsonObject, whole: boolean): ContentsList;
  /** Makes of a copy of a frame one that only continues its texts: what may be said once only is taken out. */
  continuation(body: JsonObject): void;
  /** The member that counts frames, where the format has one. */
  readonly counter: string | null;
}

/** Most frames have none of these. */
const NONE: readonly never[] = [];

/** Collects contents; the lists are what `AnswerContents` names. */
export class ContentsList implements AnswerContents {
  readonly pieces: TextPiece[] = [];
  readonly wholes: WholeText[] = [];
  readonly calls: CallPiece[] = [];
  others: readonly OtherText[] = NONE;
  readonly ends: string[] = [];
  readonly finishes: string[] = [];
  readonly tokens: (Place & { readonly without: unknown })[] = [];
  /** Objects whose texts go on from frame to frame, with the number that the channels in them begin with. */
  deltas: readonly { readonly holder: object; readonly index: number }[] = NONE;
  /** What is known to be bytes. */
  bytes: readonly Place[] = NONE;
  /** What repeats the request. */
  repeated: readonly Place[] = NONE;
  /** Whether the body goes deeper than can be looked at. */
  tooDeep = false;

  /** Adds `holder[key]` as a piece of `channel` when it is a text; an empty one is a place where more can be said. */
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

  bytesAt(holder: object, key: string | number): void {
    this.bytes = added(this.bytes, holder, key);
  }

  repeats(holder: object, key: string | number): void {
    this.repeated = added(this.repeated, holder, key);
  }

  /** A piece of what a delta says in a member that no format knows. */
  otherPiece(channel: string, holder: object, key: string): void {
    this.pieces.push({ channel, holder: holder as Record<string | number, unknown>, key, flow: channel, other: true });
  }

  /** The provider told a reason for which what is called so ends. */
  finish(prefix: string): void {
    this.ends.push(prefix);
    this.finishes.push(prefix);
  }

  /** Adds what tells tokens, unless it is empty. */
  token(holder: object, key: string, without: unknown): void {
    const places = holder as Record<string | number, unknown>;
    const value = places[key];
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return;
    this.tokens.push({ holder: places, key, without });
  }
}

/** The list with one more place: its own, unless it is the empty one. */
function added(places: readonly Place[], holder: object, key: string | number): readonly Place[] {
  const place = { holder: holder as Record<string | number, unknown>, key };
  if (places === NONE) return [place];
  (places as Place[]).push(place);
  return places;
}
