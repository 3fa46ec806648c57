import type { ReplyContext } from "../conversation/codec.ts";
import type { StopReason } from "../conversation/reply.ts";
import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import type { Usage } from "../usage.ts";
import { responsesUsageMember } from "./usage.ts";

/** Request settings that the answer repeats, with the vendor's defaults. */
const REPEATED: Readonly<Record<string, JsonValue>> = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: null,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: "disabled",
};

export interface ResponseState {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly id: string | null;
  readonly output: readonly JsonObject[];
  readonly usage: Usage | null;
  /** The reason why it is incomplete. */
  readonly incomplete?: "max_output_tokens" | "content_filter" | null;
  /** The error message if it failed. */
  readonly failure?: string | null;
}

/** The response object in any state. */
export function responseObject(state: ResponseState, context: ReplyContext): JsonObject {
  const { request } = context;
  const body: JsonObject = {
    id: responseId(state.id, context),
    object: "response",
    created_at: context.created,
    status: state.status,
    background: false,
    error: state.status === "failed" ? { code: "server_error", message: state.failure ?? "The model could not form its answer." } : null,
    incomplete_details: state.status === "incomplete" ? { reason: state.incomplete ?? "max_output_tokens" } : null,
    model: context.model,
    output: [...state.output],
    previous_response_id: null,
    reasoning: {
      effort: null,
      summary: null,
      ...(typeof request.reasoning === "object" ? (request.reasoning as JsonObject | null) : null),
    },
    store: false,
    usage: state.usage === null ? null : responsesUsageMember(state.usage),
    user: request.user ?? null,
  };
  if (state.status === "completed") body.completed_at = context.created;
  for (const [name, value] of Object.entries(REPEATED)) body[name] = request[name] ?? value;
  return body;
}

/** Clients recognize object types by their prefix. */
export function responseId(id: string | null, { callId }: ReplyContext): string {
  return id?.startsWith("resp_") === true ? id : `resp_${callId}`;
}

/** Whether the answer ended within its last item, which is then incomplete, too. */
export function isCut(stop: StopReason): boolean {
  return stop === "length" || stop === "filtered";
}

/** The final status of a response for a stop reason. */
export function ending(stop: StopReason, refusalShown: boolean): Pick<ResponseState, "status" | "incomplete"> {
  switch (stop) {
    case "length":
      return { status: "incomplete", incomplete: "max_output_tokens" };
    case "filtered":
      return { status: "incomplete", incomplete: "content_filter" };
    case "refusal":
      return refusalShown ? { status: "completed" } : { status: "incomplete", incomplete: "content_filter" };
    case "malformed":
      return { status: "failed" };
    default:
      return { status: "completed" };
  }
}
