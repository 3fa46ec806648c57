import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import type { Answer, StreamAnswer } from "../../road/answer.ts";
import { abortReason, type Call } from "../../road/call.ts";
import type { AgentRoute } from "../../road/target.ts";
import type { AgentEvents } from "../../upstreams/agents/agent-client.ts";
import { FoldedTask } from "../../wire/a2a/folded-task.ts";
import type { AgentVersion } from "../../wire/a2a/agent-requests.ts";
import { type AgentEvent, INTERRUPTED_STATES, Malformed, stateOf, TERMINAL_STATES } from "../../wire/a2a/shapes.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { type StreamCodec, UNMETERED } from "../../wire/streams/stream.ts";
import type { AgentParts } from "./agent-parts.ts";
import type { AgentRequest } from "./agent-request.ts";
import { CallExtensions } from "./call-extensions.ts";
import { type PreparedMessage, prepareMessage } from "./prepare-message.ts";
import { HeldTexts, textOfParts } from "./held-texts.ts";
import { outgoingHeaders } from "./outgoing-chain.ts";
import { contextNames, OwnNames } from "./own-context.ts";
import { keepKnownTask, keepTask, knownTask, ownTaskOf } from "./own-tasks.ts";
import { PacedWrites } from "./paced-writes.ts";
import { keepPushConfig, queueReceivedNotifications } from "./push-configs.ts";
import { ReportedCost } from "./reported-cost.ts";
import { EVENT_STREAM_HEADERS } from "../../wire/streams/stream-headers.ts";

const KEEP_ALIVE_MS = 15_000;
const encoder = new TextEncoder();
const KEEP_ALIVE = encoder.encode(": keep-alive\n\n");

/** A stream of a task's events from an agent to a caller. */
interface TaskStream {
  readonly call: Call;
  readonly route: AgentRoute;
  readonly request: AgentRequest;
  readonly parts: AgentParts;
  readonly names: OwnNames;
  readonly extensions: CallExtensions;
  readonly pushConfig: JsonObject | null;
  /** See `PreparedMessage`; null for a subscription. */
  readonly refused: PreparedMessage["refused"] | null;
  /** See `PreparedMessage`, or the stored task for a subscription. */
  readonly before: JsonObject | null;
  /** True for a subscription: the task and its push configurations are already stored. */
  readonly isKnown: boolean;
}

/** Sends a message to an agent and streams its events. */
export async function streamMessage(call: Call, route: AgentRoute, request: AgentRequest, parts: AgentParts): Promise<Answer | Refusal> {
  if (route.agent.reached?.streaming !== true) return refuse("agent_unsupported_operation", "The agent does not stream.");
  const extensions = new CallExtensions(call, route);
  if (extensions.missing !== null) return extensions.missing;
  const work = await prepareMessage(call, route, request.params, parts);
  if (isRefusal(work)) return work;
  const { passage, params, names, before, pushConfig, refused } = work;
  const unrecorded = parts.outlet.depart(call, route.agent.reached.endpoint, JSON.stringify(params));
  if (unrecorded !== null) return refused(unrecorded);
  const events = await passage.upstream.stream({
    agent: route.agent,
    operation: "SendStreamingMessage",
    params,
    headers: { ...outgoingHeaders(call, route, parts), ...extensions.headers },
    abort: call.abort,
    hear: extensions.noteAnswered,
  });
  if (isRefusal(events)) return refused(events);
  return streamed({ call, route, request, parts, names, extensions, pushConfig, refused, before, isKnown: false }, events);
}

/** Subscribes to a running task, whichever process began it: the agent sends its current state, then further events. */
export async function subscribeToTask(call: Call, route: AgentRoute, request: AgentRequest, parts: AgentParts): Promise<Answer | Refusal> {
  const row = await ownTaskOf(call, route, request.params.id, parts);
  if (isRefusal(row)) return row;
  if (TERMINAL_STATES.has(row.state))
    return refuse("agent_unsupported_operation", "The task has ended, and nothing more will be told of it.");
  if (route.agent.reached === null) return refuse("agent_undiscovered");
  if (!route.agent.reached.streaming) return refuse("agent_unsupported_operation", "The agent does not stream.");
  const { outlet } = parts;
  const unrecorded = outlet.depart(call, route.agent.reached.endpoint, null);
  if (unrecorded !== null) return unrecorded;
  const names = new OwnNames(call, route, await contextNames(call, route, row.context_id, parts), row.id, parts);
  const extensions = new CallExtensions(call, route);
  const { headers, noteAnswered: mayAnswerFromKnown } = extensions;
  const taskRequest = { agent: route.agent, params: { id: row.id }, headers, hear: mayAnswerFromKnown, abort: call.abort };
  const events = await outlet.look(call).upstream.stream({ ...taskRequest, operation: "SubscribeToTask" });
  if (isRefusal(events)) return events;
  const before = knownTask(row);
  return streamed(
    { call, route, request, parts, names, extensions, pushConfig: null, refused: null, before, isKnown: true },
    withTaskFirst(events, before),
  );
}

/** v0.3 agents may begin a resubscription with the next event: the caller is then sent the task's stored state first. */
async function* withTaskFirst(events: AgentEvents, known: JsonObject): AgentEvents {
  try {
    const first = await events.next();
    if (first.done === true) return first.value;
    if (first.value.kind !== "task" && first.value.kind !== "message") yield { kind: "task", value: known };
    yield first.value;
    return yield* events;
  } finally {
    // If the caller stops before iteration is delegated to `events`, `events` would not be closed.
    await events.return(null).catch(() => undefined);
  }
}

/** How long a caller waits for a status to be stored before it is sent anyway. */
const STORE_TIMEOUT_MS = 2_000;

/** Stores a task's state as its stream reports it: state changes immediately, other updates at most once a second. */
class KeptStream {
  readonly folded: FoldedTask;
  private readonly stream: TaskStream;
  private readonly writes = new PacedWrites(() => this.keepSoon());
  private state: string | null = null;
  private isKnown: boolean;
  private isChanged = false;

  constructor(stream: TaskStream) {
    this.stream = stream;
    this.folded = new FoldedTask(stream.before);
    this.isKnown = stream.isKnown;
  }

  /** `event`: the agent's event; `passed`: what is sent of it now. Returns a refusal if the task belongs to another caller or is gone. */
  async take(event: AgentEvent, passed: readonly AgentEvent[]): Promise<Refusal | null> {
    for (const one of passed) this.folded.take(one);
    if (event.kind === "message") return null;
    this.isChanged = true;
    if (this.isKnown) {
      if (event.kind === "artifactUpdate") return null;
      const { state } = this;
      this.state = stateOf(event.value);
      await (this.state === state ? this.writes.soon() : this.writes.now());
      return null;
    }
    // The task's owner must be stored before anybody learns the task's ID.
    const others = await this.keep();
    if (others !== null) return others;
    await begun(this.stream, event);
    this.isKnown = true;
    return null;
  }

  /** Stores the last state when the stream ends. */
  async end(): Promise<void> {
    await this.writes.end();
    if (this.isChanged && this.isKnown) await this.keepSoon();
  }

  private async keep(): Promise<Refusal | null> {
    const { call, route, request, before, parts } = this.stream;
    this.isChanged = false;
    if (this.folded.value === null) return null;
    return (this.isKnown || before !== null ? keepKnownTask : keepTask)(call, route, request, this.folded.value, parts);
  }

  private async keepSoon(): Promise<void> {
    const { call, parts } = this.stream;
    const written = this.keep().catch((error: Error) => void parts.log.warn("agent_task_not_stored", { call_id: call.id, error }));
    let timer: ReturnType<typeof setTimeout> | undefined;
    await Promise.race([written, new Promise((resolve) => (timer = setTimeout(resolve, STORE_TIMEOUT_MS)))]);
    clearTimeout(timer);
  }
}

/** Yields frames for the caller; returns the last frame, a refusal, or null if the stream ended without one. */
async function* framesOf(stream: TaskStream, events: AgentEvents): AsyncGenerator<string, string | Refusal | null> {
  const { call, request, parts, names } = stream;
  const held = new HeldTexts(call, parts.gates);
  const kept = new KeptStream(stream);
  const cost = new ReportedCost(call, stream.route, stream.isKnown, parts);
  const endRenewal = cost.renewClaim();
  let isReceived = false;
  const frame = (event: AgentEvent, last: boolean) => `data: ${request.writer.event(event, last)}\n\n`;
  try {
    for (;;) {
      const step = await events.next();
      if (step.done === true) {
        // Over JSON-RPC an agent refuses a message in place of the first event.
        if (step.value !== null && !isReceived) return stream.refused === null ? step.value : await stream.refused(step.value);
        const rest = await held.rest();
        if (isRefusal(rest)) return rest;
        for (const event of rest) yield frame(event, false);
        return step.value;
      }
      const event = step.value;
      isReceived = true;
      await cost.take(event);
      const refusal = await names.take(event);
      if (refusal !== null) return refusal;
      const passed = await held.take(event);
      if (isRefusal(passed)) return passed;
      const others = await kept.take(event, passed);
      if (others !== null) return others;
      await cost.known();
      const ended = isLast(event, request.version);
      for (const [at, one] of passed.entries()) {
        const last = ended && at === passed.length - 1;
        if (last) return frame(one, true);
        yield frame(one, false);
      }
    }
  } finally {
    endRenewal();
    await events.return(null).catch(() => undefined);
    const { artifacts } = kept.folded.value ?? {};
    for (const one of Array.isArray(artifacts) ? artifacts.filter(isObject) : [])
      parts.gates.noteText(call, "a2a_outbound", textOfParts(one));
    await kept.end();
  }
}

async function begun({ call, route, request, parts, pushConfig }: TaskStream, event: AgentEvent): Promise<void> {
  const id = String(event.kind === "task" ? event.value.id : event.value.taskId);
  call.row.custom_metadata = { ...(call.row.custom_metadata as object | null | undefined), a2a_task_id: id.slice(0, 200) };
  if (pushConfig === null) return;
  const row = { tenant_id: call.identity?.tenantId ?? "", agent_id: route.agent.id, id };
  await keepPushConfig(row, pushConfig, request.version, parts);
  await queueReceivedNotifications(call, row, event, parts);
}

/**
 * A stream ends with its only message or when the task ends. If the task waits for its caller, the agent decides whether the stream
 * continues; in v0.3 that status is the last event and marked as such.
 */
function isLast({ kind, value }: AgentEvent, version: AgentVersion): boolean {
  if (kind === "message") return true;
  if (kind === "artifactUpdate") return false;
  const state = stateOf(value);
  return TERMINAL_STATES.has(state) || (version === "0.3" && kind === "statusUpdate" && INTERRUPTED_STATES.has(state));
}

/** A failure before the first event becomes an ordinary answer instead of a broken stream. */
async function streamed(stream: TaskStream, events: AgentEvents): Promise<StreamAnswer | Refusal> {
  const frames = framesOf(stream, events);
  const next = async (): Promise<IteratorResult<string, string | Refusal | null>> => {
    try {
      return await frames.next();
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      const value = refuse(
        "agent_content_type_not_supported",
        `The agent's answer cannot be said in the caller's dialect: ${error.message}.`,
      );
      return { done: true, value };
    }
  };
  const first = await next();
  if (first.done === true && first.value !== null && typeof first.value !== "string") return first.value;
  const state: { last: Uint8Array | null; failed: Refusal | null } = { last: null, failed: null };
  let pending: ReturnType<typeof next> | null = Promise.resolve(first);
  const upstream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        pending ??= next();
        let timer: ReturnType<typeof setTimeout> | undefined;
        const silence = new Promise<null>((resolve) => {
          timer = setTimeout(() => resolve(null), KEEP_ALIVE_MS);
        });
        const step = await Promise.race([pending, silence]).finally(() => clearTimeout(timer));
        if (step === null) {
          controller.enqueue(KEEP_ALIVE);
          return;
        }
        pending = null;
        if (step.done !== true) {
          controller.enqueue(encoder.encode(step.value));
          return;
        }
        if (typeof step.value === "string") state.last = encoder.encode(step.value);
        else if (step.value !== null && abortReason(stream.call) === null) state.failed = step.value;
        controller.close();
      },
      async cancel() {
        // Closes the connection to the agent; what was received of the task is stored.
        await frames.return(null).catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  ).getReader();
  const codec: StreamCodec = {
    ...UNMETERED,
    push: (piece) => piece,
    end: () => ({ complete: true, last: state.last, errorReported: false }),
  };
  return {
    kind: "stream",
    status: 200,
    headers: { ...EVENT_STREAM_HEADERS, ...stream.extensions.responseHeaders(stream.request.version) },
    upstream,
    codec,
    head: [],
    inputCharacters: null,
    sender: "agent",
    refusal: (ended) => (ended ? state.failed : null),
  };
}
