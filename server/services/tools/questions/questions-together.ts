import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { exactValue } from "../../../kernel/text/exact-numbers.ts";
import { logsAt } from "../../../wire/mcp/log-levels.ts";
import { answers, idIn, memberText, resultText, type RpcId } from "../../../wire/mcp/rpc.ts";
import type { Asked } from "../forwarding/exchange.ts";
import type { ForwardedRequest } from "../forwarding/forwarded-request.ts";
import type { UpstreamMessage } from "../forwarding/upstream-messages.ts";

/** Questions of one exchange that its caller has yet to answer: each is waited for, and looked for in the database, for minutes. */
export const MAX_QUESTIONS = 16;

/** A server's request to the client that is not answered yet. */
export interface OpenQuestion {
  /** JSON text of the id the server gave it. */
  readonly id: string;
  readonly method: string;
  /** JSON text of what the caller is asked. */
  readonly input: string;
}

/** How long after one request of a server another counts as coming with it. What comes later is asked later. */
const TOGETHER_MS = 50;

/**
 * The requests a server makes at once, of which `first` is the first, and the exchange as it goes on behind them; or the
 * answer, of a server that waited for none of them. `look`: a message as the caller may have it.
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
    const next = await within(later, TOGETHER_MS);
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
      // The last of them is asked all the same: somebody has to hold the exchange.
      if (takenBack !== null && open.size > 1) open.delete(JSON.stringify(takenBack));
      else if (takenBack === null && isForCaller(request, method, message.value)) yield message.text;
    } else if (method === "ping") await exchange.respond(resultText(idIn(memberText(message.text, "id"), id), "{}"));
    else ask(message);
  }
}

/** Null where nothing comes for so long: it still may. */
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

/** Messages of which the next is already waited for. */
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
 * On the stream of a stateless request there is only what belongs to that request. Logs are for who asked for them: a session may be
 * shared with others who asked for more.
 */
export function isForCaller({ dialect, sender }: ForwardedRequest, method: string, message: JsonObject): boolean {
  if (method !== "notifications/message") return dialect === "handshake" || method === "notifications/progress";
  const level = isObject(message.params) ? message.params.level : undefined;
  return sender.logLevel !== null && logsAt(level, sender.logLevel);
}

/** Parses a JSON object and keeps every digit of its numbers, so that it is passed on as it came. */
export function readExactly(text: string | null): JsonObject {
  return exactValue(text ?? "{}") as JsonObject;
}

/** The id of the request that a message cancels; null when it cancels none. */
export function cancelledQuestion({ text, value }: UpstreamMessage): RpcId | null {
  if (value.method !== "notifications/cancelled" || !isObject(value.params)) return null;
  return idIn(memberText(memberText(text, "params") ?? "{}", "requestId"), value.params.requestId);
}
