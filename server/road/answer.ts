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
  /** Null if nothing is metered. */
  readonly usage: Usage | null;
  /** The upstream's error message if it refused the request and this answer passes the refusal on; else null. */
  readonly failure: string | null;
}

export interface StreamAnswer {
  readonly kind: "stream";
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly upstream: ReadableStreamDefaultReader<Uint8Array>;
  readonly codec: StreamCodec;
  /** Output that the codec already produced while the gateway waited to see whether the answer would begin. */
  readonly head: readonly Uint8Array[];
  /** Length of the input in characters, to estimate usage if the provider reports none; null if nothing is metered. */
  readonly inputCharacters: number | null;
  /** The service tier the request asked for, used if the answer does not name its tier; standard when left out. */
  readonly requestedTier?: ServiceTier;
  /** What the provider bills for a request whose answer never began; by default, only what the provider itself reports. */
  readonly usageOfSending?: () => Usage;
  /** Longest silence in milliseconds; the gateway's default when left out. */
  readonly idleMs?: number;
  /** What error messages call the sender; the model provider when left out. */
  readonly sender?: string;
  /** True for raw file bytes, which cannot carry an error message: a failed stream is torn instead. */
  readonly bytes?: boolean;
  /** Most bytes that may be buffered if the answer must be inspected as a whole; the default for streams when left out. */
  readonly mostHeld?: number;
  /** Keep-alive bytes, sent only between events; none when left out. */
  readonly whenSilent?: Uint8Array;
  /** True for a stream of notifications that ends only when the caller leaves, which is then not recorded as an interruption. */
  readonly endless?: boolean;
  /** How the stream encodes its texts, if a model produced it. */
  readonly form?: OutputForm;
  /** Called after each piece, and with `ended` at the end. A refusal stops the answer there. */
  readonly refusal?: (ended: boolean) => Refusal | null;
}

/** An answer the gateway itself produced: nothing is metered. */
export function ownAnswer(status: number, headers: Record<string, string>, body: string | Uint8Array = ""): WholeAnswer {
  return { kind: "whole", status, headers, body: typeof body === "string" ? encoder.encode(body) : body, usage: null, failure: null };
}

export function jsonAnswer(value: unknown, headers: Record<string, string> = {}): WholeAnswer {
  return ownAnswer(200, { "content-type": "application/json", ...headers }, JSON.stringify(value));
}
