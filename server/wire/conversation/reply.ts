import type { Usage } from "../usage.ts";
import type { AssistantPart, Signature } from "./conversation-parts.ts";

/** Why a model stopped, in no vendor's words. */
export type StopReason = "end" | "length" | "tool_call" | "stop_sequence" | "filtered" | "refusal" | "pause" | "malformed";

/** A model's own end of its turn, by what the turn holds: some servers have one word for turns with calls and without. */
export function endOfTurn(reason: StopReason, calledTools: boolean): StopReason {
  return reason === "end" || reason === "tool_call" ? (calledTools ? "tool_call" : "end") : reason;
}

/** A picture the model made. */
export interface PicturePart {
  readonly kind: "picture";
  readonly mediaType: string;
  readonly base64: string;
}

/** What stands for a picture in a format whose answers have no place for one. */
export function pictureNote(mediaType: string): string {
  return (
    `[The model made a picture (${mediaType}), which this format has no place for. Ask for it over chat completions or in ` +
    `the model's own format.]`
  );
}

export type ReplyPart = AssistantPart | PicturePart;

export interface Candidate {
  readonly index: number;
  readonly parts: readonly ReplyPart[];
  readonly stop: StopReason;
  /** Which of the caller's sequences stopped it, where the provider says. */
  readonly stopSequence: string | null;
  /** What the provider said about a refusal, a filter or a malformed call. */
  readonly stopDetail: string | null;
}

/** A whole answer in no vendor's format. */
export interface ConversationReply {
  /** The provider's own id of the answer. */
  readonly id: string | null;
  readonly candidates: readonly Candidate[];
  /** Null when the provider told none. */
  readonly usage: Usage | null;
}

/**
 * An answer as it comes, in no vendor's format. Parts of one candidate are numbered from 0 in the order they begin; each
 * is begun, filled and ended before `stop`, and several may be open at once. `usage` is cumulative: the last one counts.
 */
export type ConversationEvent =
  | { readonly kind: "start"; readonly id: string | null }
  | { readonly kind: "part_start"; readonly candidate: number; readonly part: number; readonly type: "text" | "reasoning" | "refusal" }
  | {
      readonly kind: "part_start";
      readonly candidate: number;
      readonly part: number;
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
    }
  /** More of a text, reasoning or refusal part, or of a tool call's arguments (JSON text in pieces). */
  | { readonly kind: "delta"; readonly candidate: number; readonly part: number; readonly text: string }
  | {
      readonly kind: "signature";
      readonly candidate: number;
      readonly part: number;
      readonly signature: Signature;
      readonly redacted: boolean;
    }
  /** A part that comes at once. */
  | { readonly kind: "picture"; readonly candidate: number; readonly part: number; readonly mediaType: string; readonly base64: string }
  | { readonly kind: "part_end"; readonly candidate: number; readonly part: number }
  | {
      readonly kind: "stop";
      readonly candidate: number;
      readonly reason: StopReason;
      readonly stopSequence: string | null;
      readonly stopDetail: string | null;
    }
  | { readonly kind: "usage"; readonly usage: Usage }
  /** The provider reports a failure inside the stream: nothing follows. */
  | { readonly kind: "fault"; readonly fault: ProviderFault };

/** What a provider said went wrong, in no vendor's shape. */
export interface ProviderFault {
  /** HTTP status it came with, or the nearest one where it came inside a stream. */
  readonly status: number;
  readonly message: string;
  /** The provider's own word for it: OpenAI's `code` or `type`, Anthropic's `error.type`, Google's `status`. */
  readonly code: string | null;
  /** The field it speaks of, where it says. */
  readonly param: string | null;
  /** Its `retry-after`, for formats that tell it in the body; none when left out. */
  readonly retryAfter?: string;
}

export function retryAfterIn(headers: Headers): Pick<ProviderFault, "retryAfter"> {
  const ms = headers.get("retry-after-ms") ?? "";
  const retryAfter = headers.get("retry-after") ?? (/^\d{1,9}(?:\.\d{1,6})?$/.test(ms) ? String(Math.ceil(Number(ms)) / 1000) : null);
  return retryAfter === null ? {} : { retryAfter };
}
