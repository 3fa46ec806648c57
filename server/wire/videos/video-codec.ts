import { storableText } from "../../kernel/text/storable.ts";
import type { JsonValue } from "../../kernel/json-value.ts";
import type { ProviderOperation } from "../operation.ts";
import type { Usage } from "../usage.ts";

/** How a video is derived from another: remixed, edited or extended. */
export type VideoDerivation = "remix" | "edit" | "extension";

/** The source of a derived video. */
interface RequestedSource {
  readonly as: VideoDerivation;
  /** The provider's ID of the job that created it. */
  readonly upstreamId: string;
  /** Its content, if the provider needs it. */
  readonly shown: { readonly mimeType: string; readonly base64: string } | null;
}

/** A video request independent of the vendor. */
export interface VideoRequested {
  readonly prompt: string;
  /** Null if the model may choose; the same for resolution, aspect, negative prompt and seed. */
  readonly seconds: number | null;
  /** A name (`720p`) or a size (`1280x720`). */
  readonly resolution: string | null;
  /** A ratio such as `16:9`. */
  readonly aspect: string | null;
  readonly negativePrompt: string | null;
  readonly seed: number | null;
  /** The image used as first frame. */
  readonly reference: { readonly mimeType: string; readonly base64: string } | null;
  /** The names of the remaining members of the request. */
  readonly others: readonly string[];
  /** Null if the video is not derived from another. */
  readonly source: RequestedSource | null;
}

interface VideoProblem {
  readonly field: string;
  readonly message: string;
}

/** A request to a provider about one of its jobs. */
export interface ProviderAsk {
  readonly method: "GET" | "POST" | "DELETE";
  /**
   * A path below the provider's base URL, or an absolute URL returned by the provider, including objects in a bucket
   * (`s3://`, `gs://`).
   */
  readonly path: string;
  /** JSON; absent if there is no body. */
  readonly body?: string;
}

/** How to get a finished video. */
export type VideoOutput = { readonly kind: "ask"; readonly ask: ProviderAsk } | { readonly kind: "bytes"; readonly base64: string };

/** The state of a job as reported by the provider. An unknown state counts as still running. */
export interface VideoJobState {
  readonly state: "queued" | "in_progress" | "completed" | "failed" | "cancelled";
  /** In percent; null if not reported. */
  readonly progress: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly output: VideoOutput | null;
  /** Null if no tokens are reported. */
  readonly usage: Usage | null;
  /** Duration of the video; null if not reported. */
  readonly seconds: number | null;
}

/** A request in the provider's format, and its destination. */
interface WrittenVideo {
  readonly body: string;
  /** Members of the request that the provider does not support. */
  readonly dropped: readonly string[];
  /** The destination, if not the codec's own operation; `of` is the provider's ID in the URL. */
  readonly to?: { readonly operation: ProviderOperation; readonly of?: string };
}

/** Video requests and answers in a provider's format. Pure, without I/O; never throws. */
export interface VideoCodec {
  readonly operation: ProviderOperation;
  /** The default duration in seconds; null if the provider documents none. */
  readonly usualSeconds: number | null;
  /** Whether the caller's multipart form can be sent to the provider. */
  readonly form: boolean;
  /** The supported derivations, and how the source is passed: by its job, or by its bytes. */
  readonly sources: Readonly<Partial<Record<VideoDerivation, "job" | "bytes">>>;
  /** `storage` is the URL of the bucket in which the provider may store the video; null if there is none. */
  write(requested: VideoRequested, modelName: string, storage: string | null): WrittenVideo | { readonly unsupported: VideoProblem };
  /** The provider's ID of an accepted job; null if the answer is invalid. */
  accepted(answer: JsonValue): string | null;
  ask(id: string): ProviderAsk;
  /** Null if the answer is invalid. */
  read(answer: JsonValue, id: string): VideoJobState | null;
  /** Null if the provider cannot cancel jobs. */
  cancel(id: string): ProviderAsk | null;
}

export const RUNNING: VideoJobState = { state: "in_progress", progress: null, error: null, output: null, usage: null, seconds: null };

/** The provider's text is made storable and shortened, because it is stored with the job. */
export function failedReading(code: string, message: string): VideoJobState {
  return { ...RUNNING, state: "failed", error: { code: storableText(code.slice(0, 100)), message: storableText(message.slice(0, 1_000)) } };
}
