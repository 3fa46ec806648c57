import type { Candidate, StopReason } from "../../conversation/reply.ts";

/** The stop reason, from `finish_reason` and the content of the answer: some servers always report `stop`. */
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

/** Servers' finish reasons that say no more than the neutral stop reason. */
const PLAIN: ReadonlySet<unknown> = new Set([
  ...["stop", "length", "tool_calls", "function_call", "content_filter"],
  ...["max_tokens", "model_length", "eos", "eos_token", "end_turn", "stop_sequence", "complete"],
]);

/** The details of the end; an unknown reason such as `insufficient_system_resource` or `error` counts as a normal end and is named here. */
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

/** The text shown to the caller if a model refused without writing one. */
export function refusalNote({
  stop,
  stopDetail,
  parts,
}: Pick<Candidate, "stop" | "stopDetail"> & { readonly parts: readonly { readonly kind: string }[] }): string | null {
  return stop === "refusal" && !parts.some(({ kind }) => kind === "refusal") ? stopDetail : null;
}
