import { holdAnswer, MAX_TO_APPROVE_LENGTH, redeemHeldAnswer } from "../../directory/tools/approvals.ts";
import type { Directory } from "../../directory/writes/write.ts";
import { isRefusal, reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { ownAnswer, type Answer, type StreamAnswer, type WholeAnswer } from "../../road/answer.ts";
import { bufferAnswer } from "../../road/answers/buffered-answer.ts";
import { clearedStream } from "../../road/answers/cleared-answer.ts";
import { toolCallsOf, toolCallsOfPieces } from "../../road/answers/tool-calls.ts";
import { approvalRequired } from "../../road/policy/approval-required.ts";
import { abortReason, type Call, endingRefusal, type Identity } from "../../road/call.ts";
import type { AnswerCheck, AnswerControl, RequestControl } from "../../road/control.ts";
import { type Decision, PASS, refused } from "../../road/decision.ts";
import { settle } from "../../road/metering/settle.ts";
import { streamUsage } from "../../road/metering/stream-usage.ts";
import { callFormOfExchange } from "../../road/output/answer-formats.ts";
import type { BufferedToolCall } from "../../road/output/buffered-tool-calls.ts";
import { governanceOf } from "../../road/policy/parameter-governance.ts";
import type { Exchange } from "../../road/surface.ts";
import { modelOf, routeOf } from "../../road/target.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import { type HeldAnswerTerms, heldAnswerTerms } from "./held-answer-terms.ts";

type Parts = Pick<Directory, "db" | "secrets" | "clock">;

/** The default for a tool server's approvals, too. */
const TIMEOUT_SECONDS = 900;
const TOO_LONG = `The model's tool calls need approval, and nobody can look through arguments of more than ${MAX_TO_APPROVE_LENGTH} characters.`;
/** Longest list of tool names in an approval, in characters. */
const MAX_NAME_LENGTH = 200;

/**
 * `tool_use.mode: approval_required` (interface 8.3): an answer in which a model calls tools is kept, encrypted, until
 * somebody approves it. Repeating the request with the approval token returns that same answer, once, without calling
 * the model again. Streams are buffered whole, because tool calls come last.
 */
export class HeldAnswers implements RequestControl, AnswerControl {
  readonly name = "held answers";
  private readonly parts: Parts;
  private readonly idleMs: number;

  /** `idleMs`: longest silence, in milliseconds, of a provider whose stream is held. */
  constructor(parts: Parts, idleMs: number) {
    this.parts = parts;
    this.idleMs = idleMs;
  }

  decide(call: Call): Decision | Promise<Decision> {
    const token = call.headers.get("x-approval-token");
    return token !== null && holds(call) ? this.given(call, token) : PASS;
  }

  prepare(call: Call, exchange: Exchange): AnswerCheck | null {
    const form = callFormOfExchange(exchange);
    if (form === null || !holds(call)) return null;
    // Computed now, while the call still has the original request; later it holds the one sent upstream.
    const terms = heldAnswerTerms(call);
    return (answer) => {
      if (answer.status >= 300) return answer;
      return answer.kind === "whole" ? this.whole(call, terms, form, answer) : this.stream(call, terms, form, answer);
    };
  }

  private async given(call: Call, token: string): Promise<Decision> {
    try {
      // Redeeming spends the approval and the stored answer, so it must not happen for a caller that has disconnected.
      const why = abortReason(call);
      if (why !== null)
        return refused(endingRefusal(call) ?? refuse("upstream_interrupted", "The request was cancelled.", { reason: why }));
      const redeemed = await redeemHeldAnswer(this.parts, token, { ...heldAnswerTerms(call), callId: call.id });
      if (redeemed === null) return refused(refuse("approval_token_invalid"));
      call.row.consumed_approval_request_id = redeemed.id;
      call.row.agent_authz_decision = "allow";
      return { kind: "answer", answer: readHeld(redeemed.answer) };
    } catch (error) {
      return refused(away(error));
    }
  }

  private whole(call: Call, terms: HeldAnswerTerms, form: OutputForm, answer: WholeAnswer): Answer | Refusal | Promise<Refusal> {
    const body = replyObject(answer.body);
    if (body === null) return refuse("upstream_invalid_response");
    const calls = toolCallsOf(form, body, answer.body);
    return calls.length === 0 ? answer : this.hold(call, terms, calls, answer, answer.body);
  }

  /** Settles usage itself, since the stream is consumed here. */
  private async stream(call: Call, terms: HeldAnswerTerms, form: OutputForm, answer: StreamAnswer): Promise<Answer | Refusal> {
    const cleared = await clearedStream(call, answer, form);
    const buffered = await bufferAnswer(call, cleared, answer.idleMs ?? this.idleMs);
    settle(call, streamUsage(answer));
    if (isRefusal(buffered)) return buffered;
    const calls = toolCallsOfPieces(form, buffered.pieces);
    if (calls.length === 0) return buffered.answer;
    const { codec } = buffered.answer;
    // An incomplete stream must not be kept: once approved, it would be returned as if it were complete.
    if (!codec.end().complete)
      return refuse("upstream_interrupted", undefined, { reason: codec.providerError ?? "the stream ended before its answer did" });
    return this.hold(call, terms, calls, answer, Buffer.concat(buffered.pieces));
  }

  private async hold(
    call: Call,
    terms: HeldAnswerTerms,
    calls: readonly BufferedToolCall[],
    { status, headers }: Answer,
    body: Uint8Array,
  ): Promise<Refusal> {
    call.answerReusable = false;
    const callArguments = `[${calls.map(written).join(",")}]`;
    if (callArguments.length > MAX_TO_APPROVE_LENGTH) return refuse("tool_call_limit_exceeded", TOO_LONG);
    call.row.proxy_subtype = "approval_required";
    call.row.agent_authz_decision = "approval_required";
    const identity = call.identity as Identity;
    try {
      const approval = await holdAnswer(
        this.parts,
        {
          ...terms,
          serverConfigId: null,
          serverName: routeOf(call)?.group?.name ?? modelOf(call)?.name ?? "",
          capabilityName: [...new Set(calls.map(({ name }) => name ?? "?"))].join(", ").slice(0, MAX_NAME_LENGTH),
          requesterType: identity.userId === null ? "api_key" : "user",
          requesterDisplay: identity.username ?? identity.credentialName,
          approverGroupIds: [],
          callArguments,
          metadata: {
            call_id: call.id,
            client_ip: call.ip,
            ...(identity.credentialId === identity.userId ? {} : { api_key_id: identity.credentialId }),
          },
          timeoutSeconds: TIMEOUT_SECONDS,
        },
        writeHeld(status, headers, body),
      );
      return approvalRequired(approval);
    } catch (error) {
      return away(error);
    }
  }
}

function holds(call: Call): boolean {
  const model = modelOf(call);
  return model !== null && call.scope !== null && call.identity !== null && governanceOf(call, model).toolMode === "approval_required";
}

/** A tool call as an approver reads it, with every digit kept; arguments that are not JSON appear as a string. */
function written({ name, arguments: given, isWhole }: BufferedToolCall): string {
  return `{"name":${JSON.stringify(name)},"arguments":${isWhole ? given : JSON.stringify(given)}}`;
}

function writeHeld(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): string {
  return JSON.stringify({ status, headers, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("base64") });
}

function readHeld(text: string): WholeAnswer {
  const { status, headers, body } = JSON.parse(text) as { status: number; headers: Record<string, string>; body: string };
  return ownAnswer(status, headers, Buffer.from(body, "base64"));
}

function away(error: unknown): Refusal {
  const rest = { reason: reasonOf(error), headers: { "retry-after": "1" } };
  return refuse("directory_unavailable", "Approvals cannot be looked up just now.", rest);
}
