import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { isObject } from "../../../kernel/json-value.ts";
import { requestText } from "../../../wire/mcp/rpc.ts";
import { abortReason, type Call } from "../../../road/call.ts";
import { cancellableRequest } from "../forwarding/cancellation.ts";
import { awaitClientAnswer } from "../questions/client-answers.ts";
import { gatewayRequestId } from "../forwarding/gateway-request-id.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";

/** Parameters of `elicitation/create` in URL mode. */
export interface UrlElicitation {
  readonly mode: "url";
  readonly elicitationId: string;
  readonly url: string;
  readonly message: string;
}

/** Longer than official clients wait for an answer by default; those that wait longer then get the `unanswered` refusal. */
const HELD_MS = 300_000;
const POLL_INTERVAL_MS = 500;

/**
 * Asks a handshake-dialect client on its call's stream to open a URL, and holds the call until `look` returns null (continue) or a refusal.
 * `unanswered`: the refusal if the client declines or the time runs out. Rejects if `look` does.
 */
export async function* urlElicitation(
  call: Call,
  { message }: ToolRequest,
  question: UrlElicitation,
  look: () => Promise<"wait" | Refusal | null>,
  unanswered: () => Refusal,
  parts: ToolParts,
): AsyncGenerator<string, Refusal | null> {
  const session = call.headers.get("mcp-session-id") ?? "";
  const over = new AbortController();
  const uncancellable = cancellableRequest(parts, session, message?.id ?? "", call.abort);
  try {
    const id = gatewayRequestId(parts);
    let declined = false;
    void awaitClientAnswer(parts, session, id, AbortSignal.any([call.abort.signal, over.signal])).then((answer) => {
      declined = answer !== null && !(isObject(answer.result) && answer.result.action === "accept");
    });
    yield requestText(id, "elicitation/create", JSON.stringify(question));
    const until = performance.now() + HELD_MS;
    const cancelled = () => refuse("upstream_interrupted", "The request was cancelled.", { reason: abortReason(call) ?? "cancelled" });
    for (;;) {
      if (call.abort.signal.aborted) return cancelled();
      const found = await look();
      if (call.abort.signal.aborted) return cancelled();
      if (found !== "wait") {
        yield requestText(null, "notifications/elicitation/complete", JSON.stringify({ elicitationId: question.elicitationId }));
        return found;
      }
      if (declined || performance.now() >= until) return unanswered();
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  } finally {
    over.abort();
    uncancellable();
  }
}
