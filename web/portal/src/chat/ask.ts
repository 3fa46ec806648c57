import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { portalApi } from "../portal-client.ts";
import type { ChatTurn, TurnRefusal } from "./conversation.ts";

type Json = Readonly<Record<string, unknown>>;
const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null;
const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

function contentOf({ text: words, attachments = [] }: ChatTurn): unknown {
  if (attachments.length === 0) return words;
  return [{ type: "text", text: words }, ...attachments.map(({ url }) => ({ type: "image_url", image_url: { url } }))];
}

/** What of a conversation the model is told: answers that were refused said nothing. */
function messagesOf(turns: readonly ChatTurn[]): unknown[] {
  return turns
    .filter(({ refusal, text: words }) => refusal === undefined && words !== "")
    .map((turn) => ({ role: turn.role, content: contentOf(turn) }));
}

export interface Answered {
  readonly runId: string | null;
}

/** Asks the model and tells of its answer as it comes, at most once for each frame of the screen. */
export async function streamAnswer(given: {
  readonly handle: string;
  readonly modelId: string;
  readonly turns: readonly ChatTurn[];
  readonly signal: AbortSignal;
  readonly onText: (whole: string) => void;
}): Promise<Answered> {
  const response = await portalApi.send("/v1/proxy/llm/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json", "x-gw-conversation-handle": given.handle, "x-gw-session-id": given.handle },
    body: JSON.stringify({ model_id: given.modelId, stream: true, messages: messagesOf(given.turns) }),
    signal: given.signal,
  });
  let whole = "";
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
      const delta = isJson(choice) && isJson(choice.delta) ? text(choice.delta.content) : null;
      if (delta === null) continue;
      whole += delta;
      if (frame === 0) frame = requestAnimationFrame(flush);
    }
  } finally {
    if (frame !== 0) cancelAnimationFrame(frame);
    given.onText(whole);
  }
  return { runId: response.headers.get("x-gw-run-id") };
}

const POLICY_CODES = new Set(["guardrail_blocked", "semantic_policy_block", "argument_policy_denied", "forbidden"]);

/** A refusal as a message of the conversation: the rule, the reason, what to do, and the id of the request. */
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
