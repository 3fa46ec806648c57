import { expect, test } from "bun:test";
import { agentUpstream } from "./agent-client.ts";

const TIMEOUT_MS = 500;

test("the time limit of a whole answer ends with the answer, and not while it is inspected and sent", async () => {
  const upstream = agentUpstream(async () =>
    Response.json({ message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hello" }] } }),
  );
  const agent = {
    timeoutMs: TIMEOUT_MS,
    credentials: {},
    authType: "none",
    reached: { version: "1.0", binding: "http_json", endpoint: "https://agent.example", tenant: null },
  } as const;
  const abort = new AbortController();
  const events = await upstream.stream({ agent, operation: "SendStreamingMessage", params: { message: {} }, headers: {}, abort });
  if (!("next" in events)) throw new Error(events.message);
  expect((await events.next()).value).toMatchObject({ kind: "message" });
  // A timer of the same length that was set earlier has fired by then.
  await new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS));
  expect(abort.signal.aborted).toBe(false);
  expect(await events.next()).toEqual({ done: true, value: null });
});
