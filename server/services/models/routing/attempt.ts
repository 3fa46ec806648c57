import type { ApiFormat } from "@gatehouse/contracts/provider-formats";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { type Refusal, isRefusal, reasonOf, refuse } from "../../../kernel/errors.ts";
import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import type { Provider } from "../../../upstreams/providers/provider.ts";
import { isEventStreamType } from "../../../upstreams/providers/traits.ts";
import { FilterWitness, isRefusedAnswer } from "../../../wire/conversation/filter-witness.ts";
import { readOpenAiFault } from "../../../wire/openai/fault.ts";
import { replyObject } from "../../../wire/openai/reply-object.ts";
import { EndedStream } from "../../../wire/streams/ended-stream.ts";
import { COMMENT_LINE } from "../../../wire/streams/sse-data.ts";
import { withRequestedServing } from "../../../wire/serving.ts";
import { plausibleUsage, type ServiceTier, type Usage } from "../../../wire/usage.ts";
import { meteredUsage } from "../../../road/metering/stream-usage.ts";
import { type AbortReason, type Call, abortReason } from "../../../road/call.ts";
import type { StreamAnswer, WholeAnswer } from "../../../road/answer.ts";
import type { PreparedRequest } from "../requests/model-request.ts";
import { returnedHeaders, forwardedHeaders } from "../passed-headers.ts";
import { MAX_BUFFERED_BYTES } from "../../../road/answers/buffered-answer.ts";
import { readAnswerBody } from "../../../road/answers/read-answer.ts";
import { faultWord } from "../../../wire/fault-word.ts";
import { failureOfRefusal, failureOfStatus } from "./upstream-failure.ts";
import { answeringReader } from "./answering-reader.ts";
import type { AttemptResult, FailedAttempt } from "./attempt-result.ts";
import { UNBUFFERED } from "../../../wire/streams/stream-headers.ts";

export interface AttemptParts {
  readonly providers: Readonly<Partial<Record<ApiFormat, Provider>>>;
  readonly clock: Clock;
}

export interface AttemptTerms {
  readonly model: ModelEntry;
  readonly prepared: PreparedRequest;
  /** Ends this attempt; the end of the call aborts it too. */
  readonly abort: AbortController;
  /** Longest silence of the provider, milliseconds. */
  readonly timeoutMs: number;
  /** Whether a stream is held until its answer begins, because another provider could still be tried. */
  readonly holdHead: boolean;
  /** Whether to look if the provider refused to answer, because another one could then be tried. */
  readonly watchesRefusals: boolean;
  readonly inputCharacters: number;
  /** As in `ModelRequest`. */
  readonly usageOfSending?: () => Usage;
}

/** Calls one provider once. Writes the provider's request ID onto the row. */
export async function attempt(call: Call, terms: AttemptTerms, parts: AttemptParts): Promise<AttemptResult> {
  const { model, prepared, abort, timeoutMs } = terms;
  const provider = providerOf(parts.providers, model);
  if (isRefusal(provider)) return failed(provider, null);
  const { operation, of, body, form, stream, query = "" } = prepared;
  const headers = { ...forwardedHeaders(call, model), ...prepared.headers };
  const { batched } = call;
  if (batched?.kind === "answered") {
    const { status, body: answered } = batched;
    const response = new Response(answered, { status, headers: { "content-type": "application/json" } });
    return readWhole(call, terms, response, { "content-type": "application/json" }, parts.clock);
  }
  const sending = { ...(of !== undefined && { of }), body, ...(form && { form }), stream, headers, query };
  let hasDeparted = false;
  const departed = () => {
    hasDeparted = true;
  };
  const reply = await provider.send(targetOf(model), { operation, ...sending, abort, timeoutMs, departed });
  const usage = reply.answered === undefined ? null : (prepared.usageOfPart?.(reply.answered) ?? null);
  if (isRefusal(reply)) {
    const refusal = reply.code === "upstream_unreachable" && ranOut(call, abort) ? refuse("upstream_timeout") : reply;
    if (!hasDeparted) return { ...failed(refusal, null), usage, unsent: true };
    const left = refusal.code === "upstream_timeout" || refusal.code === "upstream_interrupted";
    return { ...failed(refusal, null), usage, ...(left && { left }) };
  }
  call.row.upstream_request_id = reply.requestId?.slice(0, 200) ?? null;
  const { response } = reply;
  const passed = returnedHeaders(response.headers, model);
  if (response.status >= 200 && response.status < 300 && stream && response.body !== null) {
    const type = passed["content-type"]?.toLowerCase() ?? "";
    const codec = provider.traits.isStream(operation, type) ? prepared.streamCodec(type) : null;
    if (codec !== null) return beginStream(call, terms, response.status, response.body, codec, passed);
  }
  const result = await readWhole(call, terms, response, passed, parts.clock);
  return usage === null || "answer" in result ? result : { ...result, usage };
}

export function providerOf(providers: AttemptParts["providers"], model: ModelEntry): Provider | Refusal {
  return providers[model.provider.apiFormat] ?? refuse("upstream_error", `The provider format ${model.provider.apiFormat} is not served.`);
}

export function targetOf(model: ModelEntry) {
  return { ...model.provider, modelName: model.modelName };
}

async function readWhole(
  call: Call,
  { prepared, abort, timeoutMs, inputCharacters, watchesRefusals }: AttemptTerms,
  response: Response,
  headers: Record<string, string>,
  clock: Clock,
): Promise<AttemptResult> {
  let bytes: Uint8Array;
  const timer = setTimeout(() => abort.abort("upstream_timeout" satisfies AbortReason), timeoutMs);
  try {
    bytes = await readAnswerBody(response);
  } catch (error) {
    return { ...failed(brokenOff(call, abort, error), response.status), ...(response.ok && { left: true }) };
  } finally {
    clearTimeout(timer);
  }
  if (response.status < 200 || response.status >= 300) {
    const refusal = prepared.refusal(response.status, bytes, response.headers);
    const word = faultWord(bytes, response.headers);
    const answer: WholeAnswer = {
      kind: "whole",
      status: response.status,
      headers: refusal === null ? headers : { ...headers, "content-type": "application/json" },
      body: refusal ?? bytes,
      usage: null,
      failure: `the provider answered ${response.status}${word === null ? "" : `: ${word}`}`,
    };
    return {
      failure: failureOfStatus(answer, response.headers, new TextDecoder().decode(bytes.subarray(0, 4096)), clock.now()),
      usage: null,
      status: response.status,
    };
  }
  const found = prepared.whole(bytes);
  const read = found instanceof Promise ? await found : found;
  if (read === null) {
    const declined = prepared.declined?.(bytes) ?? null;
    if (declined === null) return failed(notAnAnswer(bytes), response.status);
    return { ...failed(declined.declined, response.status), usage: plausibleUsage(declined.usage) };
  }
  const contentType = read.contentType ?? (read.body === bytes ? undefined : "application/json");
  const body = watchesRefusals && read.meteredLater !== true && prepared.answerCodec !== undefined ? replyObject(bytes) : null;
  return {
    isRefusal: body !== null && prepared.answerCodec !== undefined && isRefusedAnswer(prepared.answerCodec, body),
    answer: {
      kind: "whole",
      status: response.status,
      headers: contentType === undefined ? headers : { ...headers, "content-type": contentType },
      body: read.body,
      usage:
        read.meteredLater === true
          ? null
          : withRequestedServing(
              meteredUsage(read.usage, inputCharacters, read.outputCharacters, read.fees),
              requestedTierOf(call, prepared),
            ),
      failure: null,
    },
  };
}

/** The provider's error is recorded on the row; the caller is only told that the provider failed. */
function notAnAnswer(bytes: Uint8Array): Refusal {
  const error = replyObject(bytes)?.error ?? null;
  return error === null
    ? refuse("upstream_invalid_response")
    : refuse("upstream_error", undefined, { reason: readOpenAiFault(200, { error }).message });
}

/** A stream whose answer has begun goes to the caller; one that fails before can still be retried elsewhere. */
async function beginStream(
  call: Call,
  { prepared, abort, timeoutMs, holdHead, watchesRefusals, inputCharacters, usageOfSending }: AttemptTerms,
  status: number,
  body: ReadableStream<Uint8Array>,
  codec: StreamAnswer["codec"],
  passed: Record<string, string>,
): Promise<AttemptResult> {
  const upstream = body.getReader();
  const head: Uint8Array[] = [];
  const witness = watchesRefusals && prepared.answerCodec !== undefined ? new FilterWitness(prepared.answerCodec) : null;
  let answering = codec;
  let room = prepared.mostHeld ?? MAX_BUFFERED_BYTES;
  if (holdHead || prepared.unbegun !== undefined) {
    const timer = setTimeout(() => abort.abort("upstream_timeout" satisfies AbortReason), timeoutMs);
    try {
      while (
        codec.providerError === null &&
        (!codec.begun || (witness?.mayBeRefused(codec.outputLength) === true && codec.closed !== true))
      ) {
        const { done, value } = await upstream.read();
        if (done) {
          const ending = codec.end();
          if (codec.begun && codec.providerError === null) answering = new EndedStream(codec, ending);
          break;
        }
        witness?.push(value);
        const piece = codec.push(value);
        if (piece === null) continue;
        head.push(piece);
        room -= piece.byteLength;
        if (room < 0) break;
      }
    } catch (error) {
      return { ...failed(brokenOff(call, abort, error), status), usage: plausibleUsage(codec.usage), left: true };
    } finally {
      clearTimeout(timer);
    }
    witness?.end();
    if (!codec.begun) {
      void cancelQuietly(upstream);
      if (room < 0) return { ...failed(refuse("upstream_invalid_response"), status), usage: plausibleUsage(codec.usage) };
      const failure = prepared.unbegun?.() ?? null;
      if (failure !== null) return { ...failed(failure.declined, status), usage: plausibleUsage(failure.usage) };
      return {
        ...failed(
          refuse("upstream_interrupted", undefined, { reason: codec.providerError ?? "the stream ended before its answer began" }),
          status,
          codec.providerError,
        ),
        usage: plausibleUsage(codec.usage),
        ...(codec.providerError === null && { left: true }),
      };
    }
  }
  const requestedTier = requestedTierOf(call, prepared);
  const isEventStream = isEventStreamType(prepared.operation, passed["content-type"]?.toLowerCase() ?? "");
  const headers: Record<string, string> = {
    ...passed,
    ...(prepared.streamType === null ? {} : { "content-type": prepared.streamType }),
    ...UNBUFFERED,
  };
  return {
    isRefusal: witness?.isRefusal === true,
    answer: {
      kind: "stream",
      status: 200,
      headers,
      upstream: isEventStream
        ? answeringReader(upstream, timeoutMs, () => call.abort.abort("upstream_timeout" satisfies AbortReason))
        : upstream,
      codec: answering,
      head,
      inputCharacters,
      ...(requestedTier !== undefined && { requestedTier: requestedTier }),
      ...(usageOfSending && { usageOfSending }),
      idleMs: timeoutMs,
      bytes: prepared.bytes === true,
      ...(prepared.mostHeld !== undefined && { mostHeld: prepared.mostHeld }),
      ...(prepared.silent !== true &&
        isEventStreamType(prepared.operation, headers["content-type"]?.toLowerCase() ?? "") && { whenSilent: COMMENT_LINE }),
    },
  };
}

/** The service tier requested. Undefined for lines of a provider's batch, which have batch prices whatever tier they request. */
export function requestedTierOf(call: Call, { serving }: PreparedRequest): ServiceTier | undefined {
  return call.batched === undefined ? serving : undefined;
}

/** `told`: the error that the provider reported within a stream. */
function failed(refusal: Refusal, status: number | null, told: string | null = null): FailedAttempt {
  return { failure: failureOfRefusal(refusal, told), usage: null, status };
}

/** Whether the attempt was aborted by a timeout. */
function ranOut(call: Call, { signal }: AbortController): boolean {
  return (signal.aborted && signal.reason === ("upstream_timeout" satisfies AbortReason)) || abortReason(call) === "upstream_timeout";
}

function brokenOff(call: Call, abort: AbortController, error: unknown): Refusal {
  if (ranOut(call, abort)) return refuse("upstream_timeout");
  return refuse("upstream_interrupted", undefined, { reason: reasonOf(error) });
}
