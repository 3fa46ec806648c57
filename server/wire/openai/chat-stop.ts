import type { Candidate, StopReason } from "../conversation/reply.ts";

/** Why a model stopped, from `finish_reason` and what the answer holds: some servers say `stop` whatever it was. */
export function chatStopReason(finish: unknown, holds: { readonly calls: boolean; readonly refusal: boolean }): StopReason {
  switch (finish) {
    case "length":
    case "max_tokens":
    case "model_length":
      return "length";
    case "content_filter":
      return holds.refusal ? "refusal" : "filtered";
    default:
      if (holds.calls) return "tool_call";
      return holds.refusal ? "refusal" : "end";
  }
}

/** Words of servers for an end that means no more than the reason it is read as. */
const PLAIN: ReadonlySet<unknown> = new Set([
  ...["stop", "length", "tool_calls", "function_call", "content_filter"],
  ...["max_tokens", "model_length", "eos", "eos_token", "end_turn", "stop_sequence", "complete"],
]);

/** What is said about the end; a reason nobody knows yet is an end, named here: `insufficient_system_resource`, `error`. */
export function chatStopDetail(finish: unknown, detail: string | null): string | null {
  if (detail !== null || typeof finish !== "string" || finish === "" || PLAIN.has(finish.toLowerCase())) return detail;
  return finish.slice(0, 200);
}

export function chatFinishReason(stop: StopReason, refusalShown: boolean): string {
  switch (stop) {
    case "length":
      return "length";
    case "tool_call":
      return "tool_calls";
    case "filtered":
      return "content_filter";
    case "refusal":
      return refusalShown ? "stop" : "content_filter";
    default:
      return "stop";
  }
}

/** What the caller is shown where a model refused without a word of its own. */
export function refusalNote({
  stop,
  stopDetail,
  parts,
}: Pick<Candidate, "stop" | "stopDetail"> & { readonly parts: readonly { readonly kind: string }[] }): string | null {
  return stop === "refusal" && !parts.some(({ kind }) => kind === "refusal") ? stopDetail : null;
}
