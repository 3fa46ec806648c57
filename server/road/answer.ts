import type { Refusal } from "../kernel/errors.ts";
import type { StreamCodec } from "../wire/streams/stream.ts";
import type { ServiceTier, Usage } from "../wire/usage.ts";
import type { OutputForm } from "../wire/output-form.ts";

const encoder = new TextEncoder();

export type Answer = WholeAnswer | StreamAnswer;

export interface WholeAnswer {
  readonly kind: "whole";
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
  /** Null where nothing is metered. */
  readonly usage: Usage | null;
  /** Set when an upstream refused the request and the answer passes its refusal on. */
  readonly failure: string | null;
}

export interface StreamAnswer {
  readonly kind: "stream";
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly upstream: ReadableStreamDefaultReader<Uint8Array>;
  readonly codec: StreamCodec;
  /** What the codec already gave while it was seen whether the answer would begin. */
  readonly head: readonly Uint8Array[];
  /** Length of the input, for an estimate when the provider never tells; null where nothing is metered. */
  readonly inputCharacters: number | null;
  /** How it was asked to be served, which holds as far as it does not say itself; the usual way when left out. */
  readonly asked?: ServiceTier;
  /** What its provider bills as soon as it was asked, of one that never began; what it tells itself when left out. */
  readonly usageOfSending?: () => Usage;
  /** Longest silence, milliseconds; the gateway's own when left out. */
  readonly idleMs?: number;
  /** Who sends it, as errors call it; the model provider when left out. */
  readonly sender?: string;
  /** Whether it is bytes of a file, which can hold no word of an error: one that fails is torn. */
  readonly bytes?: boolean;
  /** Bytes that may be held of it where it has to be looked at whole; as of any stream when left out. */
  readonly mostHeld?: number;
  /** What its caller is told while there is nothing to tell, wherever no event has begun; nothing when left out. */
  readonly whenSilent?: Uint8Array;
  /** Whether it tells news for as long as it is listened to: whoever listens ends it by going, and nothing was cut off. */
  readonly endless?: boolean;
  /** How it tells its texts, where a model says it. */
  readonly form?: OutputForm;
  /** Asked after each piece, and with `ended` when nothing more comes: why nothing more of the answer may be given. */
  readonly refusal?: (ended: boolean) => Refusal | null;
}

/** An answer that no upstream gave: nothing of it is metered. */
export function ownAnswer(status: number, headers: Record<string, string>, body: string | Uint8Array = ""): WholeAnswer {
  return { kind: "whole", status, headers, body: typeof body === "string" ? encoder.encode(body) : body, usage: null, failure: null };
}

export function jsonAnswer(value: unknown, headers: Record<string, string> = {}): WholeAnswer {
  return ownAnswer(200, { "content-type": "application/json", ...headers }, JSON.stringify(value));
}
