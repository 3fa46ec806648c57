import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { exactValue } from "../../../kernel/text/exact-numbers.ts";
import { logsAt } from "../../../wire/mcp/log-levels.ts";
import { answers, idIn, memberText, resultText, type RpcId } from "../../../wire/mcp/rpc.ts";
import type { Asked } from "../forwarding/exchange.ts";
import type { ForwardedRequest } from "../forwarding/forwarded-request.ts";
import type { UpstreamMessage } from "../forwarding/upstream-messages.ts";

/** Open questions per exchange. Limited because each is waited for, with database polling, for minutes. */
export const MAX_QUESTIONS = 16;

/** A server's request to the client that has not been answered yet. */
export interface OpenQuestion {
  /** JSON text of the server's request ID. */
  readonly id: string;
  readonly method: string;
  /** JSON text of the question. */
  readonly input: string;
}

/** Requests that arrive within this time count as sent together; later ones are asked separately. */
const GATHER_MS = 50;

/**
 * Collects requests that a server sends together, beginning with `first`, and returns them with the exchange to continue; or returns the
 * answer if the server did not wait. `look` inspects a message for the caller.
 */
export async function* questionsTogether(
  request: ForwardedRequest,
  exchange: Asked,
  first: UpstreamMessage,
  look: (message: UpstreamMessage) => Promise<UpstreamMessage | null>,
): AsyncGenerator<string, { readonly final: UpstreamMessage } | { readonly exchange: Asked; readonly questions: readonly OpenQuestion[] }> {
  const open = new Map<string, OpenQuestion>();
  const ask = (message: UpstreamMessage) => {
    const id = JSON.stringify(idIn(memberText(message.text, "id"), message.value.id));
    const { method, params } = readExactly(message.text);
    if (open.size < MAX_QUESTIONS)
      open.set(id, { id, method: String(method), input: JSON.stringify({ method, ...(params === undefined ? {} : { params }) }) });
  };
  ask(first);
  for (;;) {
    const later = exchange.messages.next();
    later.catch(() => undefined);
    const next = await within(later, GATHER_MS);
    if (next === null || next.done === true) {
      const messages = goingOn(later, exchange.messages);
      return { exchange: { ...exchange, messages }, questions: [...open.values()] };
    }
    if (answers(next.value.value, exchange.id)) return { final: next.value };
    const message = await look(next.value);
    if (message === null || typeof message.value.method !== "string") continue;
    const { method, id } = message.value;
    if (id === undefined) {
      const takenBack = cancelledQuestion(message);
      // The last question is asked even if it was cancelled, because the exchange can only be held with a question.
      if (takenBack !== null && open.size > 1) open.delete(JSON.stringify(takenBack));
      else if (takenBack === null && isForCaller(request, method, message.value)) yield message.text;
    } else if (method === "ping") await exchange.respond(resultText(idIn(memberText(message.text, "id"), id), "{}"));
    else ask(message);
  }
}

/** Resolves to null after `ms`; `coming` may still be fulfilled later. */
async function within<T>(coming: Promise<T>, ms: number): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([coming, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Continues a stream of messages whose next read is already pending. */
async function* goingOn(
  next: Promise<IteratorResult<UpstreamMessage, void>>,
  messages: AsyncGenerator<UpstreamMessage, void>,
): AsyncGenerator<UpstreamMessage, void> {
  const { done, value } = await next;
  if (done === true || value === undefined) return;
  yield value;
  yield* messages;
}

/**
 * A stateless request's stream carries only messages about that request. Log messages are filtered by level, because the session may be
 * shared with callers who requested more.
 */
export function isForCaller({ dialect, sender }: ForwardedRequest, method: string, message: JsonObject): boolean {
  if (method !== "notifications/message") return dialect === "handshake" || method === "notifications/progress";
  const level = isObject(message.params) ? message.params.level : undefined;
  return sender.logLevel !== null && logsAt(level, sender.logLevel);
}

/** Parses a JSON object, keeping every digit of its numbers. */
export function readExactly(text: string | null): JsonObject {
  return exactValue(text ?? "{}") as JsonObject;
}

/** ID of the request that the message cancels; null if it is not a cancellation. */
export function cancelledQuestion({ text, value }: UpstreamMessage): RpcId | null {
  if (value.method !== "notifications/cancelled" || !isObject(value.params)) return null;
  return idIn(memberText(memberText(text, "params") ?? "{}", "requestId"), value.params.requestId);
}
