import { ulid, uuid } from "../../../kernel/ids.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { answers, readUpstreamRpc, type RpcId } from "../../../wire/mcp/rpc.ts";
import { cancelExchange } from "../forwarding/server-exchange.ts";
import type { Asked } from "../forwarding/exchange.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { UpstreamMessage } from "../forwarding/upstream-messages.ts";

const HELD_MS = 300_000;
const MAX_HELD = 1_000;
/** Per tenant, so that one tenant cannot use up all places. */
const MAX_TENANT_HELD = 200;
/** How long another process may take to report that it holds an exchange. */
const SEARCH_TIMEOUT_MS = 3_000;

const holderOf = (id: string) => `held ${id}`;

/**
 * Keeps the exchange open in this process until its caller's retry arrives at any process. Returns the exchange's ID; null if too many are
 * held, in total or for the tenant.
 */
export function holdExchange(
  { memory, processMessages }: Pick<ToolParts, "memory" | "processMessages">,
  exchange: Asked,
  tenantId: string,
): string | null {
  if (memory.held.size >= MAX_HELD) return null;
  if (memory.held.values().reduce((held, other) => held + (other.tenantId === tenantId ? 1 : 0), 0) >= MAX_TENANT_HELD) return null;
  const id = uuid();
  exchange.detach();
  const over = () => {
    memory.held.delete(id);
    alone();
    exchange.end();
  };
  const timer = setTimeout(() => {
    cancelExchange(exchange, "the input never came");
    over();
  }, HELD_MS);
  timer.unref?.();
  const alone = processMessages.wait(holderOf(id), (instruction) => {
    const { replyTo } = instruction;
    // Only the first process to ask may continue the exchange.
    const isReply = typeof replyTo === "string";
    if (isReply && !memory.held.delete(id)) return void processMessages.send(replyTo, { over: true }).catch(() => undefined);
    if (instruction.over === true) {
      // The caller disconnected at the process that continued the exchange.
      cancelExchange(exchange, "the caller hung up");
      over();
    } else if (typeof instruction.say === "string") void exchange.respond(instruction.say);
    if (!isReply) return;
    clearTimeout(timer);
    void forward(exchange, (message) => processMessages.send(replyTo, message)).finally(over);
  });
  memory.held.set(id, { asked: exchange, tenantId, timer, alone });
  return id;
}

/** Sends the server's messages to the process at which the caller's retry arrived. */
async function forward(exchange: Asked, send: (instruction: JsonObject) => Promise<void>): Promise<void> {
  try {
    // IDs of the gateway's own requests in a session are numbers.
    await send({ id: exchange.id as number, serverInfo: exchange.serverInfo });
    for (;;) {
      const { done, value } = await exchange.messages.next();
      await send(done === true ? { over: true } : { text: value.text });
      if (done === true || answers(value.value, exchange.id)) return;
    }
  } catch {
    await send({ over: true }).catch(() => undefined);
  }
}

/**
 * Resumes a held exchange; only the first caller succeeds. `say`: the response to the server's question. Null if no process holds the
 * exchange any more.
 */
export async function resumeExchange(
  parts: Pick<ToolParts, "memory" | "processMessages">,
  id: string,
  say: string,
  signal: AbortSignal,
): Promise<Asked | null> {
  const held = parts.memory.held.get(id);
  if (held === undefined) return elsewhere(parts, id, say, signal);
  parts.memory.held.delete(id);
  clearTimeout(held.timer);
  held.alone();
  const { asked } = held;
  const follow = () => {
    cancelExchange(asked, "the caller hung up");
    asked.abort.abort(signal.reason);
  };
  signal.addEventListener("abort", follow, { once: true });
  const detach = () => signal.removeEventListener("abort", follow);
  if (signal.aborted) follow();
  else await asked.respond(say);
  return {
    ...asked,
    detach,
    end() {
      detach();
      asked.end();
    },
  };
}

async function elsewhere(
  { processMessages }: Pick<ToolParts, "processMessages">,
  id: string,
  say: string,
  signal: AbortSignal,
): Promise<Asked | null> {
  const replyTo = `reply ${ulid()}`;
  const came: JsonObject[] = [];
  const abort = new AbortController();
  const follow = () => abort.abort(signal.reason);
  if (signal.aborted) follow();
  signal.addEventListener("abort", follow, { once: true });
  let wake: () => void = () => undefined;
  const stop = processMessages.wait(replyTo, (instruction) => {
    came.push(instruction as JsonObject);
    wake();
  });
  const next = (withinMs: number) =>
    new Promise<JsonObject | null>((resolve) => {
      const first = came.shift();
      if (first !== undefined || abort.signal.aborted) return resolve(first ?? null);
      const timer = setTimeout(() => resolve(null), withinMs);
      wake = () => {
        clearTimeout(timer);
        wake = () => undefined;
        resolve(came.shift() ?? null);
      };
      abort.signal.addEventListener("abort", wake, { once: true });
    });
  const detach = () => signal.removeEventListener("abort", follow);
  const leave = () => {
    stop();
    detach();
  };
  try {
    await processMessages.send(holderOf(id), { say, replyTo });
  } catch (error) {
    leave();
    throw error;
  }
  const found = await next(SEARCH_TIMEOUT_MS);
  if (found === null || found.over === true) {
    leave();
    return null;
  }
  let finished = false;
  async function* messages(): AsyncGenerator<UpstreamMessage, void> {
    for (;;) {
      const instruction = await next(HELD_MS);
      const text = instruction?.text;
      const value = typeof text === "string" ? readUpstreamRpc(text) : null;
      finished = instruction?.over === true || (value !== null && answers(value, found?.id as RpcId));
      if (typeof text !== "string" || value === null) return;
      yield { text, value };
    }
  }
  const end = () => {
    leave();
    abort.abort("exchange_over");
    if (!finished) void processMessages.send(holderOf(id), { over: true }).catch(() => undefined);
  };
  return {
    messages: messages(),
    id: found.id as RpcId,
    serverInfo: isObject(found.serverInfo) ? found.serverInfo : null,
    session: null,
    abort,
    detach,
    end,
    // A failed send breaks the exchange, just as a failed connection to the server would.
    respond: (text) => processMessages.send(holderOf(id), { say: text }).catch(() => abort.abort("exchange_over")),
  };
}
