import type { ReplayCase, ReplayResult } from "@gatehouse/contracts/ai-replay";
import type { ReplayFormat } from "../../directory/assurance/recorded-format.ts";
import type { RecordedRequest } from "../../directory/assurance/recorded-request.ts";
import type { ReplayRequest } from "../../directory/assurance/replay-work.ts";
import type { GroupScope } from "../../directory/snapshot.ts";
import type { Clock } from "../../kernel/clock.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { internalErrorOf } from "../../kernel/internal-error.ts";
import { actionOn } from "../../road/action.ts";
import { type Answer, jsonAnswer, ownAnswer, type StreamAnswer, type WholeAnswer } from "../../road/answer.ts";
import { bufferAnswer } from "../../road/answers/buffered-answer.ts";
import { readWhole } from "../../road/answers/caller-answer.ts";
import type { Arrival } from "../../road/record/open.ts";
import type { AuditClass, Call } from "../../road/call.ts";
import type { ActionControl } from "../../road/control.ts";
import type { Govern } from "../../road/govern.ts";
import { storedBodies } from "../../road/record/content.ts";
import { answeredOutcome, closeRecord, refusedOutcome, wholeSent } from "../../road/record/finish.ts";
import type { Exchange, Surface } from "../../road/surface.ts";
import { toolsOf } from "../../road/target.ts";
import { deviations, refusedOrError, type ReplayOutcome } from "./judge-outcome.ts";

/** Whether an answer meets a rubric, or why that could not be judged. The judge is asked in a nested call of `call`, with its own row. */
export type JudgeRubric = (
  call: Call,
  rubric: string,
  answer: string,
) => Promise<{ readonly meets: boolean } | { readonly reason: string }>;

export interface ReplayCaseParts {
  readonly clock: Clock;
  readonly calls: { start(arrival: Arrival, ip: string, audit: AuditClass): Call; seal(call: Call): Promise<boolean> };
  /** Applies every control except those that wait for a person, and the one that refuses calls of suspended systems. */
  readonly govern: Govern;
  /** Controls on actions, without approvals. */
  readonly actions: readonly ActionControl[];
  readonly surfaces: Readonly<Record<ReplayFormat | "tool", Surface>>;
  readonly judgeRubric: JudgeRubric;
  readonly timeoutMs: number;
}

interface Place {
  readonly path: string;
  readonly audit: AuditClass;
  readonly surface: Surface;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const encoder = new TextEncoder();
const llm = (proxySubtype: string): AuditClass => ({ proxyType: "llm", proxySubtype });

/** Route, headers and body for a recorded request. It is replayed without streaming, which makes no difference to what is checked. */
function placeOf(request: RecordedRequest, surfaces: ReplayCaseParts["surfaces"]): Place {
  if (request.kind === "tool")
    return {
      path: `/v1/proxy/mcp/${encodeURIComponent(request.serverId)}`,
      audit: { proxyType: "mcp", proxySubtype: "mcp_jsonrpc" },
      surface: surfaces.tool,
      headers: {
        ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
        ...(request.protocolVersion === null ? {} : { "mcp-protocol-version": request.protocolVersion }),
      },
      body: request.body,
    };
  const { format, model } = request;
  const { model: _model, model_id: _id, stream: _stream, stream_options: _options, ...rest } = request.body;
  const named = /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(model) ? { model_id: model } : { model };
  const headers: Record<string, string> = format === "messages" ? { "anthropic-version": "2023-06-01" } : {};
  const place = { surface: surfaces[format], headers };
  switch (format) {
    case "chat":
      return {
        ...place,
        path: "/v1/proxy/llm/chat/completions",
        audit: llm("chat_completions"),
        body: JSON.stringify({ ...named, ...rest }),
      };
    case "responses":
      return { ...place, path: "/v1/proxy/llm/responses", audit: llm("responses"), body: JSON.stringify({ ...named, ...rest }) };
    case "messages":
      return { ...place, path: "/v1/messages", audit: llm("anthropic_messages"), body: JSON.stringify({ ...named, ...rest }) };
    case "gemini":
      return {
        ...place,
        path: `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
        audit: llm("gemini_generate_content"),
        body: JSON.stringify(rest),
      };
  }
}

/** The result of a case over its repeats, the models that answered, and their cost. */
export interface ReplayedCase {
  readonly result: ReplayResult;
  readonly models: readonly string[];
  /** Micro-dollars; null if some usage has no price. */
  readonly micros: number | null;
}

/** Replays a case as often as its suite says. `kept`: the recorded request; null if it is no longer stored. */
export async function replayCase(
  one: ReplayCase,
  kept: ReplayRequest | null,
  repeats: number,
  run: { readonly id: string; readonly scope: GroupScope; readonly goesOn: () => boolean },
  parts: ReplayCaseParts,
): Promise<ReplayedCase> {
  const skipped = (why: string): ReplayedCase => ({
    result: { case_id: one.id, state: "skipped", reasons: [why], rows: [] },
    models: [],
    micros: 0,
  });
  if (kept === null) return skipped("Its request is not kept any more.");
  if (kept.digest !== one.content_digest) return skipped("Its request is kept otherwise than when it was pinned.");
  const { request } = kept;
  if (request === null) return skipped("Its request cannot be asked again.");
  const rows: string[] = [];
  const models = new Set<string>();
  const outcomes: ReplayOutcome[] = [];
  let micros: number | null = 0;
  for (let repeat = 1; repeat <= repeats && run.goesOn(); repeat++) {
    const { call, outcome } = await replayOnce(one, request, { ...run, repeat }, parts);
    rows.push(call.id);
    outcomes.push(outcome);
    const { llm_model_used: model, custom_metadata: metadata, llm_estimated_cost_usd: usd, llm_total_tokens: tokens } = call.row;
    const upstream = (metadata as { upstream_model?: string } | null | undefined)?.upstream_model;
    if (model != null) models.add(upstream === undefined ? model : `${model} (${upstream})`);
    if (usd != null) micros = micros === null ? null : micros + Math.round(usd * 1_000_000);
    else if (Number(tokens ?? 0) > 0) micros = null;
  }
  return { result: { case_id: one.id, ...concluded(one, outcomes), rows }, models: [...models], micros };
}

/**
 * The verdict over the repeats: `flaky` when some met the expectation and some did not, `error` when none failed but some could not be
 * carried out.
 */
export function concluded(one: ReplayCase, outcomes: readonly ReplayOutcome[]): Pick<ReplayResult, "state" | "reasons"> {
  const found = outcomes.map((outcome) => (outcome.verdict === "error" ? null : deviations(one.expect, outcome)));
  const failed = found.filter((reasons) => reasons !== null && reasons.length > 0).length;
  const passed = found.filter((reasons) => reasons?.length === 0).length;
  const errors = outcomes.flatMap((outcome) => (outcome.verdict === "error" ? [outcome.reason] : []));
  const reasons = [...new Set([...found.flatMap((of) => of ?? []), ...errors])];
  if (failed > 0 && passed > 0)
    return { state: "flaky", reasons: [`${passed} of ${outcomes.length} times it was as expected.`, ...reasons] };
  if (failed > 0) return { state: "fail", reasons };
  return { state: errors.length > 0 || passed === 0 ? "error" : "pass", reasons };
}

async function replayOnce(
  one: ReplayCase,
  request: RecordedRequest,
  { id, scope, repeat }: { readonly id: string; readonly scope: GroupScope; readonly repeat: number },
  parts: ReplayCaseParts,
): Promise<{ call: Call; outcome: ReplayOutcome }> {
  const { path, audit, surface, headers, body } = placeOf(request, parts.surfaces);
  const bytes = encoder.encode(body);
  const call = parts.calls.start({ method: "POST", url: `http://localhost${path}`, headers: new Headers(headers) }, "", audit);
  call.tenant = scope.tenant;
  call.scope = scope;
  call.identity = {
    tenantId: scope.tenant.id,
    credentialId: `replay ${scope.groupId}`,
    credentialName: "replay",
    userId: null,
    username: null,
  };
  Object.assign(call.row, { tenant_id: scope.tenant.id, resource_group_id: scope.groupId, subject_kind: "service", subject_id: "replay" });
  call.row.tags = ["replay"];
  call.row.custom_metadata = { replay: { run_id: id, case_id: one.id, repeat } };
  call.row.request_size_bytes = bytes.byteLength;
  call.requestContent = bytes;
  const timer = setTimeout(() => call.abort.abort("upstream_timeout"), parts.timeoutMs);
  let answer: Answer | Refusal;
  let exchange: Exchange | Refusal | null = null;
  try {
    exchange = await surface.read(call, bytes);
    answer = isRefusal(exchange) ? exchange : await parts.govern(call, one.kind === "tool" ? withoutTool(one, exchange, parts) : exchange);
  } catch (error) {
    answer = internalErrorOf(error);
  } finally {
    clearTimeout(timer);
  }
  if (!isRefusal(answer) && answer.kind === "stream") answer = await readOut(call, answer, parts.timeoutMs);
  const outcome = await judged(one, call, outcomeOf(answer, exchange), parts);
  if (isRefusal(answer)) closeRecord(call, refusedOutcome(call, answer), null);
  else closeRecord(call, answeredOutcome(answer), wholeSent(call, answer.body, storedBodies(call), {}));
  const sealed = await parts.calls.seal(call);
  return { call, outcome: sealed ? outcome : { verdict: "error", reason: "its row could not be kept" } };
}

/** The outcome with the judge's verdict, if the case has a rubric and there is an answer to judge. */
async function judged(one: ReplayCase, call: Call, outcome: ReplayOutcome, { judgeRubric }: ReplayCaseParts): Promise<ReplayOutcome> {
  const { rubric, verdict } = one.expect;
  if (rubric === null || verdict !== "answered" || outcome.verdict !== "answered") return outcome;
  const found = await judgeRubric(call, rubric, outcome.text);
  return "meets" in found
    ? { ...outcome, meetsRubric: found.meets }
    : { verdict: "error", reason: `its rubric could not be judged: ${found.reason}` };
}

/** Tool servers may stream their answer whatever was requested. */
async function readOut(call: Call, answer: StreamAnswer, idleMs: number): Promise<WholeAnswer | Refusal> {
  const held = await bufferAnswer(call, answer, answer.idleMs ?? idleMs);
  return isRefusal(held) ? held : ownAnswer(answer.status, answer.headers, Buffer.concat(held.pieces));
}

function outcomeOf(answer: WholeAnswer | Refusal, exchange: Exchange | Refusal | null): ReplayOutcome {
  if (isRefusal(answer)) return refusedOrError(answer.code, answer.message);
  if (answer.failure !== null) return { verdict: "error", reason: answer.failure };
  const conversation = exchange === null || isRefusal(exchange) ? undefined : exchange.conversation;
  if (conversation === undefined)
    return { verdict: "answered", text: new TextDecoder().decode(answer.body), toolCalls: [], meetsRubric: null };
  const parts = (readWhole(conversation, answer.body)?.candidates ?? []).flatMap((candidate) => candidate.parts);
  return {
    verdict: "answered",
    text: parts.map((part) => (part.kind === "text" || part.kind === "refusal" ? part.text : "")).join(""),
    toolCalls: parts.flatMap((part) => (part.kind === "tool_call" ? [part.name] : [])),
    meetsRubric: null,
  };
}

/**
 * Stops a tool call just before it would be sent: action controls run, but a required approval refuses the call. The call is sent only if
 * the case says so.
 */
function withoutTool(one: ReplayCase, exchange: Exchange, { actions }: ReplayCaseParts): Exchange {
  return {
    ...exchange,
    async answer(call) {
      const target = toolsOf(call)?.targets[0];
      const reference = exchange.view.target;
      if (target === undefined || reference.kind !== "tool" || reference.capability === null) return refuse("rpc_method_not_found");
      const action = actionOn(target, reference.capability.name, JSON.stringify(reference.arguments ?? {}));
      for (const control of actions) {
        const decision = await control.before(call, action);
        if (decision.kind === "refuse") return decision.refusal;
      }
      if (action.approval.required || call.scope?.autonomy?.asksFirst === true) return refuse("approval_required");
      return one.reaches_tools ? exchange.answer(call) : jsonAnswer({ jsonrpc: "2.0", id: null, result: {} });
    },
  };
}
