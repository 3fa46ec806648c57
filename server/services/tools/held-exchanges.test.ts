import { expect, test } from "bun:test";
import type { ProcessMessages } from "../../directory/tools/process-messages.ts";
import { resumeExchange } from "./held-exchanges.ts";
import type { ToolParts } from "./tool-parts.ts";

type Take = Parameters<ProcessMessages["wait"]>[1];

/** Letters of a process whose database is there for so many of them. */
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

test("whoever cannot ask for an exchange waits for nothing", async () => {
  const { waiting, parts } = processMessages(0);
  await expect(resumeExchange(parts, "held", "{}", new AbortController().signal)).rejects.toThrow("the database is away");
  expect(waiting.size).toBe(0);
});

test("an exchange another process holds breaks off when it can be told nothing more", async () => {
  const { waiting, parts } = processMessages(1);
  const exchange = await resumeExchange(parts, "held", "{}", new AbortController().signal);
  if (exchange === null) throw new Error("nobody held the exchange");
  const next = exchange.messages.next();
  await exchange.respond("{}");
  expect((await next).done).toBe(true);
  exchange.end();
  expect(waiting.size).toBe(0);
});
