import type { ApiFormat } from "@gatehouse/contracts/provider-formats";
import type { VideoJob } from "../../directory/videos/video-store.ts";
import type { KnownModels } from "../../directory/models/known-models.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { readAnswerBody } from "../../road/answers/read-answer.ts";
import type { Provider } from "../../upstreams/providers/provider.ts";
import type { JsonValue } from "../../kernel/json-value.ts";
import type { ProviderAsk, VideoCodec, VideoJobState, VideoOutput } from "../../wire/videos/video-codec.ts";

export type ProvidersOfVideos = Readonly<Partial<Record<ApiFormat, Provider>>>;

const REQUEST_TIMEOUT_MS = 30_000;
/** Longest silence while a video is downloaded, and longest total time: a slow download occupies a place that others wait for. */
const FETCHED_WITHIN = { silentMs: 60_000, wholeMs: 15 * 60_000 };

/** How to call a job's provider, with the current settings of its model. */
export interface JobProvider {
  readonly model: ModelEntry;
  readonly codec: VideoCodec;
  readonly ask: (question: ProviderAsk, abort: AbortController, timeoutMs: number) => Promise<Response | Refusal>;
  /** The address requests go to, for the audit record. */
  readonly address: string;
}

/** The provider of a job; null if its model no longer exists or no longer generates video. */
export async function providerOfJob(
  { providers, models }: { readonly providers: ProvidersOfVideos; readonly models: Pick<KnownModels, "find"> },
  job: VideoJob,
): Promise<JobProvider | null> {
  const model = await models.find(job.tenant_id, job.model_id);
  if (model === null) return null;
  const provider = providers[model.provider.apiFormat];
  const codec = provider?.traits.videos?.(model) ?? null;
  if (provider?.ask === undefined || codec === null) return null;
  const { ask } = provider;
  const target = { ...model.provider, modelName: model.modelName };
  return {
    model,
    codec,
    address: provider.url(target, codec.operation, false),
    async ask(question, abort, timeoutMs) {
      const reply = await ask(target, { ...question, abort, timeoutMs });
      return isRefusal(reply) ? reply : reply.response;
    },
  };
}

/** `gone`: the provider has no such job. `unclear`: the answer did not tell the job's state. */
export type JobReading =
  | { readonly kind: "look"; readonly look: VideoJobState }
  | { readonly kind: "gone" | "unclear"; readonly why: string };

export async function readJob({ ask, codec }: JobProvider, upstreamId: string): Promise<JobReading> {
  const answered = await askWhole(ask, codec.ask(upstreamId));
  if (isRefusal(answered)) return { kind: "unclear", why: answered.reason ?? answered.message };
  const { status, json } = answered;
  if (status === 404 || status === 410) return { kind: "gone", why: `the provider answered ${status}` };
  if (status < 200 || status >= 300) return { kind: "unclear", why: `the provider answered ${status}` };
  const reading = codec.read(json, upstreamId);
  return reading === null ? { kind: "unclear", why: "the provider's answer says nothing of the job" } : { kind: "look", look: reading };
}

export async function askWhole(
  ask: JobProvider["ask"],
  question: ProviderAsk,
): Promise<{ readonly status: number; readonly json: JsonValue } | Refusal> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort("upstream_timeout"), REQUEST_TIMEOUT_MS * 2);
  try {
    const response = await ask(question, abort, REQUEST_TIMEOUT_MS);
    if (isRefusal(response)) return response;
    const bytes = await readAnswerBody(response);
    return { status: response.status, json: parsed(bytes) };
  } catch (error) {
    return refuse("upstream_interrupted", undefined, { reason: String((error as Error)?.message ?? error) });
  } finally {
    clearTimeout(timer);
  }
}

function parsed(bytes: Uint8Array): JsonValue {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as JsonValue;
  } catch {
    return null;
  }
}

const PIECE = 1024 * 1024;

/** The bytes of a video as they arrive. Throws if they break off, stall, take too long, or are fewer than announced. */
export async function* videoBytes(
  { ask }: Pick<JobProvider, "ask">,
  output: VideoOutput,
  { silentMs, wholeMs } = FETCHED_WITHIN,
): AsyncGenerator<Uint8Array> {
  if (output.kind === "bytes") {
    const bytes = Buffer.from(output.base64, "base64");
    for (let at = 0; at < bytes.byteLength; at += PIECE) yield bytes.subarray(at, at + PIECE);
    return;
  }
  const abort = new AbortController();
  const end = setTimeout(() => abort.abort("upstream_timeout"), wholeMs);
  try {
    const response = await ask(output.ask, abort, REQUEST_TIMEOUT_MS);
    if (isRefusal(response)) throw new Error(response.reason ?? response.message);
    if (response.status !== 200 || response.body === null) {
      abort.abort("not_wanted");
      throw new Error(`the provider answered ${response.status} when it was asked for the video`);
    }
    yield* piecesOf(response, response.body.getReader(), abort, silentMs);
  } finally {
    clearTimeout(end);
  }
}

async function* piecesOf(
  { headers }: Response,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  abort: AbortController,
  silentMs: number,
): AsyncGenerator<Uint8Array> {
  const announced = headers.get("content-length");
  let got = 0;
  let whole = false;
  try {
    for (;;) {
      const timer = setTimeout(() => abort.abort("upstream_timeout"), silentMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) break;
      got += value.byteLength;
      yield value;
    }
    whole = announced === null || Number(announced) === got;
  } finally {
    if (!whole) abort.abort("not_wanted");
    await cancelQuietly(reader);
  }
  if (!whole) throw new Error(`the video broke off after ${got} of ${announced} bytes`);
  if (got === 0) throw new Error("the video is empty");
}
