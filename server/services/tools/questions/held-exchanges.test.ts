import { expect, test } from "bun:test";
import type { ProcessMessages } from "../../../directory/tools/process-messages.ts";
import type { Asked, PooledSession } from "../forwarding/exchange.ts";
import { holdExchange, resumeExchange } from "./held-exchanges.ts";
import type { ToolParts } from "../tool-parts.ts";

type Take = Parameters<ProcessMessages["wait"]>[1];

/** Process messages whose database accepts `there` sends and then fails. */
function processMessages(there: number) {
  const waiting = new Map<string, Take>();
  let sent = 0;
  const box: Pick<ProcessMessages, "wait" | "send"> = {
    wait(recipient, take) {
      waiting.set(recipient, take);
      return () => void waiting.delete(recipient);
    },
    async send(_recipient, { replyTo }) {
      if (++sent > there) throw new Error("the database is away");
      if (typeof replyTo === "string") waiting.get(replyTo)?.({ id: 1, serverInfo: null });
    },
  };
  return { waiting, parts: { memory: { held: new Map() }, processMessages: box } as unknown as ToolParts };
}

test("an exchange that cannot be requested from its process is not waited for", async () => {
  const { waiting, parts } = processMessages(0);
  await expect(resumeExchange(parts, "held", "{}", new AbortController().signal)).rejects.toThrow("the database is away");
  expect(waiting.size).toBe(0);
});

test("an exchange held by another process ends when that process cannot be reached any more", async () => {
  const { waiting, parts } = processMessages(1);
  const exchange = await resumeExchange(parts, "held", "{}", new AbortController().signal);
  if (exchange === null) throw new Error("nobody held the exchange");
  const next = exchange.messages.next();
  await exchange.respond("{}");
  expect((await next).done).toBe(true);
  exchange.end();
  expect(waiting.size).toBe(0);
});

/** An exchange with a handshake server that never sends another message. */
function silentExchange() {
  const said: string[] = [];
  const abort = new AbortController();
  const exchange: Asked = {
    // oxlint-disable-next-line require-yield -- it never yields anything
    messages: (async function* () {
      await new Promise<void>((resolve) => {
        abort.signal.addEventListener("abort", () => resolve(), { once: true });
      });
    })(),
    id: 7,
    session: {} as PooledSession,
    serverInfo: null,
    abort,
    detach: () => undefined,
    end: () => abort.abort("exchange_over"),
    respond: async (text) => void said.push(text),
  };
  return { exchange, said, abort };
}

const cancelled = expect.stringMatching(/"method":"notifications\/cancelled".*"requestId":7\D/);

test("a resumed exchange is cancelled at its server when its call ends", async () => {
  const { parts } = processMessages(0);
  const { exchange, said, abort } = silentExchange();
  const id = holdExchange(parts, exchange, "t") as string;
  const caller = new AbortController();
  expect((await resumeExchange(parts, id, "{}", caller.signal))?.id).toBe(7);
  caller.abort("client_disconnected");
  expect([abort.signal.reason, said]).toEqual(["client_disconnected", ["{}", cancelled]]);
});

test("a disconnected caller cannot resume an exchange, and an exchange held again outlives its call", async () => {
  const { parts } = processMessages(0);
  const gone = silentExchange();
  await resumeExchange(parts, holdExchange(parts, gone.exchange, "t") as string, "{}", AbortSignal.abort("client_disconnected"));
  expect([gone.abort.signal.reason, gone.said]).toEqual(["client_disconnected", [cancelled]]);
  const again = silentExchange();
  const caller = new AbortController();
  const resumed = await resumeExchange(parts, holdExchange(parts, again.exchange, "t") as string, "{}", caller.signal);
  // It is held for input again while the call that resumed it is still being answered.
  const id = holdExchange(parts, resumed as Asked, "t") as string;
  caller.abort("client_disconnected");
  expect([again.abort.signal.aborted, again.said]).toEqual([false, ["{}"]]);
  await resumeExchange(parts, id, "again", AbortSignal.abort("client_disconnected"));
});

test("a server is sent a cancellation when the process that resumed an exchange no longer waits", async () => {
  const { parts, waiting } = processMessages(2);
  const { exchange, said, abort } = silentExchange();
  const id = holdExchange(parts, exchange, "t") as string;
  const take = waiting.get(`held ${id}`) as Take;
  take({ say: "{}", replyTo: "reply" });
  take({ over: true });
  expect([abort.signal.aborted, said]).toEqual([true, ["{}", cancelled]]);
});

test("a tenant with many held exchanges leaves room for other tenants", async () => {
  const { parts } = processMessages(0);
  const held = (tenantId: string) => holdExchange(parts, silentExchange().exchange, tenantId);
  const ids = Array.from({ length: 200 }, () => held("greedy"));
  expect([ids.includes(null), held("greedy"), held("other") === null]).toEqual([false, null, false]);
  // Resuming an exchange frees its place.
  await resumeExchange(parts, ids[0] as string, "{}", new AbortController().signal);
  expect(held("greedy")).not.toBeNull();
});
