import { ulid, uuid } from "../../kernel/ids.ts";
import { isObject, type JsonObject } from "../../wire/document.ts";
import { answers, readUpstreamRpc, type RpcId } from "../../wire/mcp/rpc.ts";
import { giveUp } from "./ask-server.ts";
import type { Asked } from "./exchange.ts";
import type { ToolParts } from "./tool-parts.ts";
import type { UpstreamMessage } from "./upstream-messages.ts";

const HELD_MS = 300_000;
const MOST_HELD = 1_000;
/** How long another process may take to say that it holds an exchange. */
const FOUND_MS = 3_000;

const holderOf = (id: string) => `held ${id}`;

/** The exchange waits, in this process, for whichever process its caller comes to. Null when too many are held already. */
export function hold({ memory, letters }: Pick<ToolParts, "memory" | "letters">, asked: Asked): string | null {
  if (memory.held.size >= MOST_HELD) return null;
  const id = uuid();
  asked.detach();
  const over = () => {
    memory.held.delete(id);
    alone();
    asked.end();
  };
  const timer = setTimeout(() => {
    giveUp(asked, "the input never came");
    over();
  }, HELD_MS);
  timer.unref?.();
  const alone = letters.wait(holderOf(id), (letter) => {
    const { replyTo } = letter;
    // Only the first to come goes on with it.
    const comes = typeof replyTo === "string";
    if (comes && !memory.held.delete(id)) return void letters.send(replyTo, { over: true }).catch(() => undefined);
    if (letter.over === true) over();
    else if (typeof letter.say === "string") void asked.respond(letter.say);
    if (!comes) return;
    clearTimeout(timer);
    void forward(asked, (message) => letters.send(replyTo, message)).finally(over);
  });
  memory.held.set(id, { asked, timer, alone });
  return id;
}

/** What the server says goes to the process the caller has come to. */
async function forward(asked: Asked, send: (letter: JsonObject) => Promise<void>): Promise<void> {
  try {
    // The gateway counts its own requests in a session.
    await send({ id: asked.id as number, serverInfo: asked.serverInfo });
    for (;;) {
      const { done, value } = await asked.messages.next();
      await send(done === true ? { over: true } : { text: value.text });
      if (done === true || answers(value.value, asked.id)) return;
    }
  } catch {
    await send({ over: true }).catch(() => undefined);
  }
}

/** Goes on with a held exchange, once: `say` is the answer to what its server asked. Null when nobody holds it (any more). */
export async function goOn(
  parts: Pick<ToolParts, "memory" | "letters">,
  id: string,
  say: string,
  signal: AbortSignal,
): Promise<Asked | null> {
  const held = parts.memory.held.get(id);
  if (held === undefined) return elsewhere(parts, id, say, signal);
  parts.memory.held.delete(id);
  clearTimeout(held.timer);
  held.alone();
  await held.asked.respond(say);
  return held.asked;
}

async function elsewhere({ letters }: Pick<ToolParts, "letters">, id: string, say: string, signal: AbortSignal): Promise<Asked | null> {
  const replyTo = `reply ${ulid()}`;
  const came: JsonObject[] = [];
  const abort = new AbortController();
  const follow = () => abort.abort(signal.reason);
  if (signal.aborted) follow();
  signal.addEventListener("abort", follow, { once: true });
  let wake: () => void = () => undefined;
  const stop = letters.wait(replyTo, (letter) => {
    came.push(letter as JsonObject);
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
    await letters.send(holderOf(id), { say, replyTo });
  } catch (error) {
    leave();
    throw error;
  }
  const found = await next(FOUND_MS);
  if (found === null || found.over === true) {
    leave();
    return null;
  }
  let finished = false;
  async function* messages(): AsyncGenerator<UpstreamMessage, void> {
    for (;;) {
      const letter = await next(HELD_MS);
      const text = letter?.text;
      const value = typeof text === "string" ? readUpstreamRpc(text) : null;
      finished = letter?.over === true || (value !== null && answers(value, found?.id as RpcId));
      if (typeof text !== "string" || value === null) return;
      yield { text, value };
    }
  }
  const end = () => {
    leave();
    abort.abort("exchange_over");
    if (!finished) void letters.send(holderOf(id), { over: true }).catch(() => undefined);
  };
  return {
    messages: messages(),
    id: found.id as RpcId,
    serverInfo: isObject(found.serverInfo) ? found.serverInfo : null,
    session: null,
    abort,
    detach,
    end,
    // What cannot be said breaks the exchange off, as it does between this process and a server.
    respond: (text) => letters.send(holderOf(id), { say: text }).catch(() => abort.abort("exchange_over")),
  };
}
