import type { ModelEntry } from "../../../directory/snapshot.ts";
import { isRefusal, reasonOf, type Refusal, refuse } from "../../../kernel/errors.ts";
import type { Answer, StreamAnswer, WholeAnswer } from "../../../road/answer.ts";
import { readAnswerBody } from "../../../road/answers/read-answer.ts";
import { type AbortReason, abortReason, type Call } from "../../../road/call.ts";
import { noteUpstreamModel } from "../../../road/record/upstream-model.ts";
import { pathSegment } from "../../../upstreams/providers/send.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { faultWord } from "../../../wire/fault-word.ts";
import { replyObject } from "../../../wire/openai/reply-object.ts";
import type { StreamEnding, StreamPiece } from "../../../wire/streams/stream.ts";
import { ResponsesStream } from "../../../wire/responses/responses-stream.ts";
import { COMMENT_LINE } from "../../../wire/streams/sse-data.ts";
import { answeringReader } from "../routing/answering-reader.ts";
import { type AttemptParts, providerOf, targetOf } from "../routing/attempt.ts";
import { returnedHeaders } from "../passed-headers.ts";
import { residencyOf } from "../routing/residency.ts";
import { failureOfRefusal, failureOfStatus } from "../routing/upstream-failure.ts";
import type { ResponsePlace } from "./response-records.ts";
import { UNBUFFERED } from "../../../wire/streams/stream-headers.ts";

export interface ResponseQuery {
  readonly method: "GET" | "POST" | "DELETE";
  readonly of: "response" | "cancel" | "input_items";
  /** The part of the URL after `?`; empty if there is none. */
  readonly query: string;
  readonly stream: boolean;
}

export interface AskParts extends AttemptParts {
  /** Writes the begin marker of a call that leaves for an upstream. */
  readonly begin: (call: Call) => void;
  readonly timeoutMs: number;
}

const PATHS = { response: "", cancel: "/cancel", input_items: "/input_items" } as const;

export function responsePath(id: string, { of, query }: Pick<ResponseQuery, "of" | "query">): string {
  return `/responses/${pathSegment(id)}${PATHS[of]}${query === "" ? "" : `?${query}`}`;
}

/** Requests a stored response from its provider, or an operation on it. Nothing of the answer is metered. */
export async function askForResponse(
  call: Call,
  model: ModelEntry,
  { id, providerKey }: ResponsePlace,
  query: ResponseQuery,
  parts: AskParts,
): Promise<Answer | Refusal> {
  const provider = providerOf(parts.providers, model);
  if (isRefusal(provider)) return provider;
  const tenant = call.scope?.tenant;
  if (tenant === undefined) throw new Error("a response was asked for without a scope");
  if (provider.ask === undefined || model.provider.providerKey !== providerKey) return noSuchResponse(id);
  const residency = residencyOf(tenant, model, parts.providers);
  call.row.residency_class = residency;
  if (residency === "blocked") return refuse("residency_violation");
  const { row } = call;
  row.llm_model_used = model.name;
  row.llm_provider = providerKey;
  noteUpstreamModel(row, model);
  row.region_routed_to = model.provider.region;
  row.target_url = `${provider.url(targetOf(model), "responses", false).replace(/\?.*$/, "")}/${pathSegment(id)}${PATHS[query.of]}`;
  try {
    parts.begin(call);
  } catch (error) {
    return refuse("audit_unavailable", undefined, { reason: reasonOf(error) });
  }
  const { abort } = call;
  const { timeoutMs } = parts;
  const reply = await provider.ask(targetOf(model), { method: query.method, path: responsePath(id, query), abort, timeoutMs });
  if (isRefusal(reply)) return failureOfRefusal(reply).answer;
  const { response } = reply;
  const headers = returnedHeaders(response.headers, model);
  if (response.status === 200 && query.stream && response.body !== null && isEvents(headers)) {
    const late = () => abort.abort("upstream_timeout" satisfies AbortReason);
    return streamed(id, answeringReader(response.body.getReader(), timeoutMs, late), headers, parts);
  }
  let bytes: Uint8Array;
  const timer = setTimeout(() => abort.abort("upstream_timeout" satisfies AbortReason), timeoutMs);
  try {
    bytes = await readAnswerBody(response);
  } catch (error) {
    return abortReason(call) === "upstream_timeout"
      ? refuse("upstream_timeout")
      : refuse("upstream_interrupted", undefined, { reason: reasonOf(error) });
  } finally {
    clearTimeout(timer);
  }
  if (response.status === 404 || response.status === 410) return noSuchResponse(id);
  const answer: WholeAnswer = { kind: "whole", status: response.status, headers, body: bytes, usage: null, failure: null };
  if (response.status < 200 || response.status >= 300) {
    const word = faultWord(bytes, response.headers);
    const failure = `the provider answered ${response.status}${word === null ? "" : `: ${word}`}`;
    const message = new TextDecoder().decode(bytes.subarray(0, 4096));
    return failureOfStatus({ ...answer, failure }, response.headers, message, parts.clock.now()).answer;
  }
  return isAnswerTo(query, id, replyObject(bytes)) ? answer : refuse("upstream_invalid_response");
}

export function noSuchResponse(id: string): Refusal {
  return refuse("response_not_found", `Response with id '${id.slice(0, 256)}' not found.`);
}

/** Whether the answer is about the requested response. */
function isAnswerTo({ of }: ResponseQuery, id: string, body: JsonObject | null): boolean {
  return body !== null && (of === "input_items" ? Array.isArray(body.data) : body.id === id);
}

function isEvents(headers: Readonly<Record<string, string>>): boolean {
  return headers["content-type"]?.toLowerCase().startsWith("text/event-stream") === true;
}

/** Replays a response that was already metered; the stream is cut off if it turns out to be another response. */
class GivenAgain extends ResponsesStream {
  private readonly state: { another: boolean };

  constructor(id: string) {
    const state = { another: false };
    super((told) => {
      state.another ||= told.id !== id;
    }, false);
    this.state = state;
  }

  get another(): boolean {
    return this.state.another;
  }

  override push(piece: Uint8Array): StreamPiece {
    const pushed = super.push(piece);
    return this.another ? null : pushed;
  }

  override end(): StreamEnding {
    const ending = super.end();
    return this.another ? { ...ending, last: null } : ending;
  }
}

function streamed(id: string, upstream: StreamAnswer["upstream"], passed: Record<string, string>, { timeoutMs }: AskParts): Answer {
  const codec = new GivenAgain(id);
  return {
    kind: "stream",
    status: 200,
    headers: { ...passed, ...UNBUFFERED },
    upstream,
    codec,
    head: [],
    inputCharacters: null,
    idleMs: timeoutMs,
    whenSilent: COMMENT_LINE,
    refusal: () => (codec.another ? refuse("upstream_invalid_response") : null),
  };
}
