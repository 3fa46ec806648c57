import type { ModelEntry } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { isRefusal, type Provider, type ProviderTarget, type ApiFormat } from "../../upstreams/providers/provider.ts";
import { readChatReply } from "../../wire/openai/chat-reply.ts";
import { type ChatRequest, outboundText } from "../../wire/openai/chat-request.ts";
import { ChatStream } from "../../wire/openai/chat-stream.ts";
import { estimateTokens, type Usage } from "../../wire/usage.ts";
import { type AbortReason, abortReason, type Call } from "../call.ts";
import type { Answer } from "../surface.ts";
import { readAnswerBody } from "./read-answer.ts";

/** Where an admitted call leaves the gateway. */
export interface Dispatch {
  chat(call: Call, request: ChatRequest, inputCharacters: number): Promise<Answer | Refusal>;
}

export interface DispatchParts {
  readonly providers: Readonly<Partial<Record<ApiFormat, Provider>>>;
  /** The begin marker: written before the call leaves. Throws when calls can no longer be recorded: then it does not leave. */
  readonly begin: (call: Call) => void;
  readonly timeoutMs: number;
}

/** Vendor headers a caller can use; the rest speak of the gateway's own account. */
const PASSED_HEADERS = ["content-type", "retry-after", "retry-after-ms", "x-should-retry", "openai-processing-ms", "openai-version"] as const;

export function dispatch(parts: DispatchParts): Dispatch {
  return {
    async chat(call, request, inputCharacters) {
      const { model } = call;
      if (model === null) throw new Error("a call was dispatched that no control had resolved");
      const provider = parts.providers[model.provider.apiFormat as ApiFormat];
      if (provider === undefined) return refuse("upstream_error", `The provider format ${model.provider.apiFormat} is not served.`);
      const target: ProviderTarget = { ...model.provider, apiFormat: model.provider.apiFormat as ApiFormat, modelName: model.modelName };
      const body = outboundText(request, { model: model.modelName, defaultTemperature: model.defaultTemperature, defaultMaxTokens: model.defaultMaxTokens, systemPrompt: model.systemPrompt });

      recordDeparture(call, model, provider.chatUrl(target), body);
      try {
        parts.begin(call);
      } catch (error) {
        return refuse("audit_unavailable", undefined, { reason: error instanceof Error ? error.message : String(error) });
      }
      const reply = await provider.chat(target, { body, stream: request.stream, abort: call.abort, timeoutMs: parts.timeoutMs });
      if (isRefusal(reply)) return reply;
      call.row.upstream_request_id = reply.requestId?.slice(0, 200) ?? null;
      return readAnswer(call, request, reply.response, inputCharacters, parts.timeoutMs);
    },
  };
}

function recordDeparture(call: Call, model: ModelEntry, url: string, body: string): void {
  const { row } = call;
  row.llm_model_used = model.name;
  row.llm_provider = model.provider.providerKey;
  row.target_url = url;
  row.region_routed_to = model.provider.region;
  row.residency_class = "not_evaluated";
  row.request_content_hash = sha256Hex(body);
  call.requestContent = body;
}

async function readAnswer(call: Call, request: ChatRequest, reply: Response, inputCharacters: number, timeoutMs: number): Promise<Answer | Refusal> {
  const failure = upstreamFailure(reply);
  if (failure !== null) {
    await reply.body?.cancel().catch(() => undefined);
    return failure;
  }
  const headers: Record<string, string> = {};
  for (const name of PASSED_HEADERS) {
    const value = reply.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  const succeeded = reply.status < 300;
  if (succeeded && request.stream && reply.body !== null && isEventStream(headers["content-type"])) {
    return { kind: "stream", status: reply.status, headers: { ...headers, "cache-control": "no-cache", "x-accel-buffering": "no" }, upstream: reply.body, codec: new ChatStream({ hideUsage: !request.includeUsage }), inputCharacters };
  }

  let body: Uint8Array;
  const timer = setTimeout(() => call.abort.abort("upstream_timeout" satisfies AbortReason), timeoutMs);
  try {
    body = await readAnswerBody(reply);
  } catch (error) {
    if (abortReason(call) === "upstream_timeout") return refuse("upstream_timeout");
    return refuse("upstream_interrupted", undefined, { reason: error instanceof Error ? error.message : String(error) });
  } finally {
    clearTimeout(timer);
  }
  if (!succeeded) return { kind: "whole", status: reply.status, headers, body, usage: null, failure: `the provider answered ${reply.status}` };
  const read = readChatReply(body);
  if (read === null) return refuse("upstream_invalid_response");
  return { kind: "whole", status: reply.status, headers, body, usage: read.usage ?? estimated(inputCharacters, read.outputCharacters), failure: null };
}

/** Refusals of the provider keep their meaning for the caller, but for those that concern the gateway's own account. */
function upstreamFailure({ status, headers }: Response): Refusal | null {
  if (status === 401 || status === 403) return refuse("upstream_auth_failed", undefined, { reason: `the provider answered ${status}` });
  if (status === 408 || status === 504) return refuse("upstream_timeout", undefined, { reason: `the provider answered ${status}` });
  if (status >= 200 && (status < 300 || (status >= 400 && status < 500))) return null;
  const retryAfter = headers.get("retry-after");
  return refuse("upstream_error", `The model provider failed (HTTP ${status}).`, { reason: `the provider answered ${status}`, ...(retryAfter === null ? {} : { headers: { "retry-after": retryAfter } }) });
}

function isEventStream(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith("text/event-stream") ?? false;
}

export function estimated(inputCharacters: number, outputCharacters: number): Usage {
  return { inputUncached: estimateTokens(inputCharacters), cacheRead: 0, cacheWrite: 0, output: estimateTokens(outputCharacters), estimated: true };
}
