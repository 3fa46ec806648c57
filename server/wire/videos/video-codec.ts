import { storableText } from "../../kernel/text/storable.ts";
import type { JsonValue } from "../../kernel/json-value.ts";
import type { ProviderOperation } from "../operation.ts";
import type { Usage } from "../usage.ts";

/** What a new video is made of one that is there: it is told anew, changed, or goes on. */
export type VideoDerivation = "remix" | "edit" | "extension";

/** The video that a new one is made of. */
interface SourceAsked {
  readonly as: VideoDerivation;
  /** The provider's own id of the job that made it. */
  readonly upstreamId: string;
  /** Its bytes, where the provider is shown them. */
  readonly shown: { readonly mimeType: string; readonly base64: string } | null;
}

/** What was asked for, in no vendor's form. */
export interface VideoAsked {
  readonly prompt: string;
  /** Null where the model may choose, as the three that follow. */
  readonly seconds: number | null;
  /** A name (`720p`) or a size (`1280x720`). */
  readonly resolution: string | null;
  /** `16:9` or the like. */
  readonly aspect: string | null;
  readonly negativePrompt: string | null;
  readonly seed: number | null;
  /** The picture it begins with. */
  readonly reference: { readonly mimeType: string; readonly base64: string } | null;
  /** Names of what else the request says. */
  readonly others: readonly string[];
  /** Null for a video that is made of none. */
  readonly source: SourceAsked | null;
}

interface VideoProblem {
  readonly field: string;
  readonly message: string;
}

/** Asks a provider about a job of its own. */
export interface ProviderAsk {
  readonly method: "GET" | "POST" | "DELETE";
  /**
   * Below the provider's base, as its driver puts it together; or a whole address that the provider gave, that of an object in a bucket
   * (`s3://`, `gs://`) included.
   */
  readonly path: string;
  /** JSON; none when left out. */
  readonly body?: string;
}

/** Where a video that is ready can be had. */
export type VideoOutput = { readonly kind: "ask"; readonly ask: ProviderAsk } | { readonly kind: "bytes"; readonly base64: string };

/** Where a job stands, as its provider says. What a vendor says that nobody knows is no end. */
export interface VideoLook {
  readonly state: "queued" | "in_progress" | "completed" | "failed" | "cancelled";
  /** Of a hundred; null where the provider does not tell. */
  readonly progress: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly output: VideoOutput | null;
  /** Null where it tells of no tokens. */
  readonly usage: Usage | null;
  /** How long the video is; null where the provider does not tell. */
  readonly seconds: number | null;
}

/** A request in the provider's form, and where it goes. */
interface WrittenVideo {
  readonly body: string;
  /** Members of the request that the provider does not know. */
  readonly dropped: readonly string[];
  /** Where it goes when that is not the codec's own operation; `of`: the thing of the provider's that the address names. */
  readonly to?: { readonly operation: ProviderOperation; readonly of?: string };
}

/** Videos in a provider's own format. Pure, no I/O, never throws. */
export interface VideoCodec {
  readonly operation: ProviderOperation;
  /** How long a video is that nobody said a length of, seconds; null where the provider documents none. */
  readonly usualSeconds: number | null;
  /** Whether a job is kept that the caller's own form can be sent for. */
  readonly form: boolean;
  /** What it makes of videos that are there, and how it is told of them: by its own job, or by their bytes. */
  readonly sources: Readonly<Partial<Record<VideoDerivation, "job" | "bytes">>>;
  /** `storage`: the address of the bucket that the provider may leave the video in; null for none. */
  write(asked: VideoAsked, modelName: string, storage: string | null): WrittenVideo | { readonly unsupported: VideoProblem };
  /** The provider's id of a job it took on; null when the answer is none. */
  accepted(answer: JsonValue): string | null;
  ask(id: string): ProviderAsk;
  /** Null when the answer is none. */
  read(answer: JsonValue, id: string): VideoLook | null;
  /** Null where the provider cannot. */
  cancel(id: string): ProviderAsk | null;
}

export const RUNNING: VideoLook = { state: "in_progress", progress: null, error: null, output: null, usage: null, seconds: null };

/** The provider's words go into a record, whatever characters they have. */
export function failedLook(code: string, message: string): VideoLook {
  return { ...RUNNING, state: "failed", error: { code: storableText(code.slice(0, 100)), message: storableText(message.slice(0, 1_000)) } };
}
