import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { portalApi } from "../portal-client.ts";
import { translations } from "../translations.ts";
import type { OfferedTool } from "../tools/offered-tools.ts";
import type { AnswerCut, GivenPassage, TurnRefusal } from "./conversation.ts";

type Json = Readonly<Record<string, unknown>>;
const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null;
const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

export interface CalledTool {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

interface Answered {
  readonly runId: string | null;
  readonly text: string;
  readonly calls: readonly CalledTool[];
  readonly passages: readonly GivenPassage[];
  /** Why the answer was cut off; null if the model ended it itself. */
  readonly cut: AnswerCut | null;
}

const CUTS: Readonly<Record<string, AnswerCut>> = { length: "length", content_filter: "filter" };

/** Assembles tool calls that are streamed in pieces, by index. */
class CallPieces {
  private readonly calls = new Map<number, { id: string; name: string; arguments: string }>();

  add(pieces: unknown): void {
    for (const piece of Array.isArray(pieces) ? pieces : []) {
      if (!isJson(piece)) continue;
      const at = typeof piece.index === "number" ? piece.index : this.calls.size;
      const call = this.calls.get(at) ?? { id: "", name: "", arguments: "" };
      const named = isJson(piece.function) ? piece.function : {};
      call.id = text(piece.id) ?? call.id;
      call.name += text(named.name) ?? "";
      call.arguments += text(named.arguments) ?? "";
      this.calls.set(at, call);
    }
  }

  whole(): readonly CalledTool[] {
    return [...this.calls.entries()]
      .toSorted(([a], [b]) => a - b)
      .map(([at, call]) => ({ ...call, id: call.id === "" ? `call_${at}` : call.id }));
  }
}

/** Asks the model and reports its answer as it arrives, at most once per animation frame. */
export async function streamAnswer(given: {
  readonly handle: string;
  readonly modelId: string;
  readonly messages: readonly unknown[];
  readonly tools: readonly OfferedTool[];
  readonly knowledgeBaseIds: readonly string[] | null;
  /** Forbids further tool calls, so that the model answers with what it knows. */
  readonly mustEnd: boolean;
  readonly runId: string | null;
  readonly signal: AbortSignal;
  readonly onText: (whole: string) => void;
}): Promise<Answered> {
  const response = await portalApi.send("/v1/proxy/llm/chat/completions", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-gw-conversation-handle": given.handle,
      "x-gw-session-id": given.handle,
      ...(given.runId === null ? {} : { "x-gw-run-id": given.runId }),
    },
    body: JSON.stringify({
      model_id: given.modelId,
      stream: true,
      messages: given.messages,
      ...(given.knowledgeBaseIds === null ? {} : { gw_knowledgebases: given.knowledgeBaseIds }),
      ...(given.tools.length === 0 ? {} : { tools: given.tools.map(functionOf) }),
      ...(given.tools.length > 0 && given.mustEnd ? { tool_choice: "none" } : {}),
    }),
    signal: given.signal,
  });
  const calls = new CallPieces();
  let whole = "";
  let cut: AnswerCut | null = null;
  let frame = 0;
  const flush = () => {
    frame = 0;
    given.onText(whole);
  };
  const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  try {
    for await (const { data } of events ?? []) {
      if (data === "[DONE]") break;
      const chunk: unknown = JSON.parse(data);
      if (!isJson(chunk)) continue;
      if (chunk.error !== undefined) throw new ApiError(response.status, response.headers, chunk, "The stream broke off.");
      const [choice] = Array.isArray(chunk.choices) ? (chunk.choices as unknown[]) : [];
      if (!isJson(choice)) continue;
      cut = CUTS[text(choice.finish_reason) ?? ""] ?? cut;
      if (!isJson(choice.delta)) continue;
      calls.add(choice.delta.tool_calls);
      const piece = text(choice.delta.content);
      if (piece === null) continue;
      whole += piece;
      if (frame === 0) frame = requestAnimationFrame(flush);
    }
  } catch (error) {
    // The connection broke mid-stream; every browser has its own message for that.
    if (error instanceof ApiError || given.signal.aborted) throw error;
    throw new ApiError(0, response.headers, null, translations.t("unreachable"));
  } finally {
    if (frame !== 0) cancelAnimationFrame(frame);
    given.onText(whole);
  }
  const passages = passagesIn(response.headers.get("x-gw-passages"));
  return { runId: response.headers.get("x-gw-run-id"), text: whole, calls: calls.whole(), passages, cut };
}

/** Parses `1=document:ordinal,...`. */
const passagesIn = (header: string | null): readonly GivenPassage[] =>
  (header ?? "").split(",").flatMap((one) => {
    const found = /^(\d{1,3})=([0-9a-f-]{36}:\d{1,6})$/.exec(one);
    return found === null ? [] : [{ source: Number(found[1]), id: found[2] as string }];
  });

const functionOf = ({ name, description, parameters }: OfferedTool) => ({ type: "function", function: { name, description, parameters } });

const POLICY_CODES = new Set(["guardrail_blocked", "semantic_policy_block", "argument_policy_denied", "forbidden"]);

/** The provider failed, not the person's request. A request that a provider itself refuses keeps the provider's own code. */
const FAULTS_OF_PROVIDERS = /^(?:upstream_(?!authorization_required|scope_required)\w+|no_healthy_member)$/;

/** A refusal as a turn of the conversation: the rule, the reason, what to do, and the request ID. */
export function refusalOf(error: unknown): TurnRefusal {
  const nothing = { rule: null, usage: null, requestId: null, retryAfterSeconds: null };
  if (!(error instanceof ApiError)) return { ...nothing, kind: "other", message: error instanceof Error ? error.message : String(error) };
  const body = isJson(error.body) ? error.body : {};
  const inner = isJson(body.error) ? body.error : {};
  const usage = isJson(body.usage_limit) ? body.usage_limit : null;
  const code = error.code ?? "";
  const kind =
    error.status === 429 || usage !== null
      ? "limit"
      : code === "approval_required"
        ? "approval"
        : POLICY_CODES.has(code) || code.includes("policy") || code.includes("guardrail")
          ? "policy"
          : FAULTS_OF_PROVIDERS.test(code)
            ? "provider"
            : code.includes("model")
              ? "model"
              : "other";
  const rule = text(inner.guardrail) ?? text(inner.policy) ?? text(body.policy) ?? text(inner.limit_type) ?? text(usage?.limit_type);
  return {
    kind,
    message: error.message,
    rule: rule === null ? null : [rule, text(inner.check)].filter((part) => part !== null).join(" · "),
    usage:
      usage === null
        ? null
        : { group: text(usage.group_name) ?? "", used: Number(usage.current_usage ?? 0), most: Number(usage.max_limit ?? 0) },
    requestId: error.requestId,
    retryAfterSeconds: error.retryAfterSeconds,
  };
}
