import { type ErrorCode, isRefusal, reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { exactValue } from "../../kernel/text/exact-numbers.ts";
import { agentAnswer, agentAsk, type AgentOperation, agentStreamEvent } from "../../wire/a2a/agent-requests.ts";
import { restError, rpcError } from "../../wire/a2a/errors.ts";
import { type AgentEvent, INTERRUPTED_STATES, Malformed, stateOf, TERMINAL_STATES } from "../../wire/a2a/shapes.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { isNestedDeeper } from "../../wire/json/nesting.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import { frameData } from "../../wire/streams/sse-data.ts";
import { FrameCutter } from "../../wire/streams/sse-frames.ts";
import { AgentAuthorization } from "./agent-credentials.ts";
import type { AgentAddress } from "./agent-address.ts";
import type { AgentSend } from "./agent-send.ts";

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_STREAM_BYTES = 256 * 1024 * 1024;
const MAX_DEPTH = 100;

/** A request to an agent, in v1.0 whatever the agent speaks. */
export interface AgentAskRequest {
  readonly agent: AgentAddress;
  readonly operation: AgentOperation;
  readonly params: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  readonly abort: AbortController;
  /** Called with the headers of a successful response. */
  readonly hear?: (headers: Headers) => void;
}

/** The events of an agent's stream. The generator returns a refusal if the agent reported an error or the stream broke off, else null. */
export type AgentEvents = AsyncGenerator<AgentEvent, Refusal | null>;

/** A client for agents of any version; requests and answers are in v1.0. Never throws; failures are refusals. */
export interface AgentUpstream {
  ask(request: AgentAskRequest): Promise<AgentEvent | Refusal>;
  stream(request: AgentAskRequest): Promise<AgentEvents | Refusal>;
}

type Timer = ReturnType<typeof setTimeout>;

/** Carries a refusal out of nested parsing. */
class ReportedFault extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export function agentUpstream(send: AgentSend): AgentUpstream {
  const authorization = new AgentAuthorization(send);

  async function request({ agent, operation, params, headers, abort, hear }: AgentAskRequest): Promise<Response | Refusal> {
    const { reached } = agent;
    if (reached === null) return refuse("agent_undiscovered");
    let ask: ReturnType<typeof agentAsk>;
    try {
      ask = agentAsk(reached, operation, params);
    } catch (error) {
      if (error instanceof Malformed)
        return refuse("agent_invalid_params", `The agent speaks A2A ${reached.version}, which cannot say this: ${error.message}.`);
      throw error;
    }
    const own = await authorization.headers(agent);
    if (isRefusal(own)) return own;
    const response = await send({
      url: `${reached.endpoint}${ask.path}`,
      method: ask.method,
      headers: {
        accept:
          operation === "SendStreamingMessage" || operation === "SubscribeToTask"
            ? "text/event-stream, application/json"
            : "application/json, application/a2a+json",
        ...(ask.body === null ? {} : { "content-type": "application/json" }),
        "a2a-version": reached.version,
        ...headers,
        ...own,
      },
      ...(ask.body === null ? {} : { body: JSON.stringify(ask.body) }),
      abort,
      timeoutMs: agent.timeoutMs,
    });
    if (isRefusal(response)) return response;
    if (response.ok) {
      hear?.(response.headers);
      return response;
    }
    if (response.status === 401 || response.status === 403) authorization.refused(agent);
    return refusedBy(response);
  }

  return {
    async ask(agentRequest) {
      const { agent, abort, operation } = agentRequest;
      // The timeout covers the whole answer, not just its head.
      const timer = limited(agentRequest);
      try {
        const response = await request(agentRequest);
        if (isRefusal(response)) return abort.signal.aborted ? timedOut(response) : response;
        const value = await jsonOf(response, abort.signal);
        return agentAnswer(agent.reached?.version ?? "1.0", operation, resultOf(value, agent.reached?.binding === "jsonrpc"));
      } catch (error) {
        return unreadable(error, abort);
      } finally {
        clearTimeout(timer);
      }
    },
    async stream(agentRequest) {
      const timer = limited(agentRequest);
      let response: Response | Refusal | null = null;
      try {
        response = await request(agentRequest);
        if (isRefusal(response)) return agentRequest.abort.signal.aborted ? timedOut(response) : response;
        return eventsOf(response, agentRequest, timer);
      } finally {
        if (response === null || isRefusal(response) || isStream(response)) clearTimeout(timer);
      }
    },
  };
}

/** Aborts the exchange after the agent's timeout, which applies to answers that are not streams. */
const limited = ({ agent, abort }: AgentAskRequest): Timer =>
  setTimeout(() => abort.abort(new Error("the agent did not answer in time")), agent.timeoutMs);

function timedOut(refusal: Refusal): Refusal {
  return refusal.code === "upstream_unreachable" ? refuse("upstream_timeout", "The agent did not answer in time.") : refusal;
}

function unreadable(error: unknown, { signal }: AbortController): Refusal {
  if (error instanceof ReportedFault) return error.refusal;
  if (error instanceof Malformed) return refuse("agent_invalid_response", undefined, { reason: error.message.slice(0, 300) });
  if (signal.aborted) return refuse("upstream_timeout", "The agent did not answer in time.");
  return refuse("upstream_interrupted", "The agent broke off its answer.", { reason: reasonOf(error) });
}

async function textOf(response: Response, most: number, signal?: AbortSignal): Promise<string> {
  const bytes = await readUpTo(response.body, most, signal);
  if (bytes === null) throw new Malformed("", "the answer is too large");
  if (signal?.aborted === true) throw new Error("aborted");
  return new TextDecoder().decode(bytes);
}

/** Parses JSON without losing digits of numbers. Throws `Malformed`. */
function valueOf(text: string): JsonValue {
  try {
    const value = exactValue(text) as JsonValue;
    if (!isNestedDeeper(text, MAX_DEPTH)) return value;
  } catch {
    throw new Malformed("", "the answer is not JSON");
  }
  throw new Malformed("", "the answer is nested too deep");
}

const jsonOf = async (response: Response, signal: AbortSignal) => valueOf(await textOf(response, MAX_ANSWER_BYTES, signal));

/** The result of a JSON-RPC or REST answer; throws the error it reports as `Told`. */
function resultOf(value: JsonValue, rpc: boolean): JsonValue {
  if (!rpc) {
    if (isObject(value) && isObject(value.error)) throw new ReportedFault(refusalOfFault(restError(value), null));
    return value;
  }
  if (!isObject(value)) throw new Malformed("", "the answer is no JSON-RPC message");
  if (isObject(value.error)) {
    const { code } = value.error;
    throw new ReportedFault(code === -32601 ? refuse("agent_unsupported_operation") : refusalOfFault(rpcError(value.error), value.error));
  }
  if (value.result === undefined) throw new Malformed("result", "is required");
  return value.result;
}

/** The gateway had found the request valid, so the default message would not fit. */
const ownWordsOn = (code: ErrorCode): string | undefined =>
  code === "agent_invalid_params" ? "The agent did not take the request. The audit row says what it told." : undefined;

/** The message is the gateway's own, because an agent's error text was not inspected; it goes into the reason only. */
function refusalOfFault(fault: ReturnType<typeof restError>, error: JsonObject | null): Refusal {
  if (fault !== null) return refuse(fault.code, ownWordsOn(fault.code), { reason: fault.message });
  const reason =
    error === null ? "an error the protocol does not know" : `error ${String(error.code)}: ${String(error.message).slice(0, 300)}`;
  return refuse("upstream_error", "The agent failed.", { reason });
}

async function refusedBy(response: Response): Promise<Refusal> {
  let fault: ReturnType<typeof restError> = null;
  try {
    fault = restError(valueOf(await textOf(response, MAX_ERROR_BYTES)));
  } catch {
    // The body is not a readable error; the status decides.
  }
  const reason = `the agent answered ${response.status}`;
  if (fault !== null) return refuse(fault.code, ownWordsOn(fault.code), { reason: `${reason}: ${fault.message}` });
  if (response.status === 401 || response.status === 403)
    return refuse("upstream_auth_failed", "The agent refused the credential it was shown.", { reason });
  if (response.status === 404 || response.status === 405 || response.status === 501)
    return refuse("agent_unsupported_operation", undefined, { reason });
  if (response.status === 429) return refuse("upstream_overloaded", "The agent is overloaded.", { reason });
  if (response.status >= 300 && response.status < 400)
    return refuse("upstream_error", "The agent answered with a redirect, which is not followed.", { reason });
  return refuse("upstream_error", "The agent failed.", { reason });
}

/** Whether the task has ended or waits for its caller, so that its stream may end. */
const isPaused = (state: string) => TERMINAL_STATES.has(state) || INTERRUPTED_STATES.has(state);

const isStream = ({ headers }: Response) => headers.get("content-type")?.includes("text/event-stream") === true;

async function* eventsOf(response: Response, { agent, abort, operation }: AgentAskRequest, timer: Timer): AgentEvents {
  const version = agent.reached?.version ?? "1.0";
  const rpc = agent.reached?.binding === "jsonrpc";
  try {
    if (!isStream(response)) {
      // An agent that does not stream may answer whole.
      const value = resultOf(await jsonOf(response, abort.signal), rpc);
      clearTimeout(timer);
      yield operation === "SubscribeToTask" ? agentAnswer(version, "GetTask", value) : agentAnswer(version, "SendMessage", value);
      return null;
    }
    if (response.body === null) return null;
    const reader = response.body.getReader();
    const cutter = new FrameCutter();
    const decoder = new TextDecoder();
    let total = 0;
    let over = false;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (!done && (total += value.byteLength) > MAX_STREAM_BYTES) throw new Malformed("", "the stream is too large");
        const frames = done ? [cutter.rest()] : cutter.push(value);
        for (const frame of frames) {
          const data = frameData(decoder.decode(frame));
          if (data === null || data === "") continue;
          const event = agentStreamEvent(version, resultOf(valueOf(data), rpc));
          if (event.kind !== "artifactUpdate") over = event.kind === "message" || isPaused(stateOf(event.value));
          yield event;
        }
        if (done) return over ? null : refuse("upstream_interrupted", "The agent ended its stream before the task was over.");
      }
    } finally {
      void cancelQuietly(reader);
    }
  } catch (error) {
    return unreadable(error, abort);
  } finally {
    clearTimeout(timer);
  }
}
