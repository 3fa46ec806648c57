import { expect, test } from "bun:test";
import type { SessionCredential, SessionState } from "../../../directory/tools/session-state.ts";
import type { Refusal } from "../../../kernel/errors.ts";
import type { StreamAnswer } from "../../../road/answer.ts";
import type { Call } from "../../../road/call.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import type { McpSender } from "../../../wire/mcp/bridge.ts";
import type { RpcMessage } from "../../../wire/mcp/rpc.ts";
import type { Changes } from "./no-changes.ts";
import { sessionStream, subscriptionStream } from "./listen.ts";

const message = { id: 1, params: { notifications: {} } } as unknown as RpcMessage;
const notificationOf = (data: string): JsonObject => ({ jsonrpc: "2.0", method: "notifications/message", params: { data } });

function member(notifications: AsyncGenerator<JsonObject, void>): Changes {
  return { honoured: { tools: false, prompts: false, resources: false, uris: [], logs: true }, notifications, close: () => undefined };
}

/** The merged notifications of several servers, after the acknowledgement. */
async function listening(...members: readonly AsyncGenerator<JsonObject, void>[]) {
  const stream = subscriptionStream(message, {} as McpSender, async () => members.map(member));
  await stream.next();
  return stream;
}

// oxlint-disable-next-line require-yield -- it never yields anything
async function* silent(): AsyncGenerator<JsonObject, void> {
  await new Promise(() => undefined);
}

test("notifications of one server are not kept in memory while another server is silent", async () => {
  const all: WeakRef<JsonObject>[] = [];
  async function* chatty(): AsyncGenerator<JsonObject, void> {
    for (;;) {
      const next = notificationOf(`${all.length}`);
      all.push(new WeakRef(next));
      await Promise.resolve();
      yield next;
    }
  }
  const stream = await listening(chatty(), silent());
  for (let i = 0; i < 2_000; i++) await stream.next();
  // Objects referenced by the current turn are only released in the next.
  await new Promise((resolve) => setImmediate(resolve));
  Bun.gc(true);
  expect(all.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(200);
});

test("notifications of several servers are all delivered, and a server that has ended is not waited for", async () => {
  async function* says(...texts: readonly string[]): AsyncGenerator<JsonObject, void> {
    for (const text of texts) yield notificationOf(text);
  }
  const stream = await listening(says("a", "b"), says(), says("c"));
  const received: string[] = [];
  for await (const text of stream) received.push(JSON.parse(text).params.data);
  expect(received.toSorted()).toEqual(["a", "b", "c"]);
});

test("a server whose notifications break off breaks off the stream, even while another is silent", async () => {
  // oxlint-disable-next-line require-yield -- it throws before it yields anything
  async function* broken(): AsyncGenerator<JsonObject, void> {
    throw new Error("broken off");
  }
  const stream = await listening(broken(), silent());
  await expect(stream.next()).rejects.toThrow("broken off");
});

test("a stream is refused if it names more or longer resource URIs than a session may subscribe to", async () => {
  const listen = async (uris: readonly string[]) => {
    const asked = { id: 1, params: { notifications: { resourceSubscriptions: uris } } } as unknown as RpcMessage;
    const { done, value } = await subscriptionStream(asked, {} as McpSender, async () => []).next();
    return done === true ? (value as Refusal).code : "open";
  };
  const many = Array.from({ length: 1_001 }, (_, at) => `test://${at}`);
  expect(await listen(many)).toBe("rpc_invalid_params");
  expect(await listen(many.slice(1))).toBe("open");
  expect(await listen(["x".repeat(2_049)])).toBe("rpc_invalid_params");
  expect(await listen(["x".repeat(2_048)])).toBe("open");
});

test("a client that stalls on its session's stream and disconnects is no longer followed", async () => {
  async function* chatty(): AsyncGenerator<JsonObject, void> {
    for (;;) {
      await Promise.resolve();
      yield { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    }
  }
  const left = Promise.withResolvers<void>();
  let closed = 0;
  const open = async () => [{ ...member(chatty()), close: () => void closed++ }];
  const following = { uris: () => [], ended: () => false, stop: () => left.resolve() };
  const sessionState = { follow: async () => following, statusOf: async () => ({ level: null, ended: false }) } as unknown as SessionState;
  const call = { abort: new AbortController() } as unknown as Call;
  const answer = sessionStream(call, {} as SessionCredential, {} as McpSender, open, { sessionState }) as StreamAnswer;
  await answer.upstream.read();
  await answer.upstream.cancel();
  await left.promise;
  expect(closed).toBe(1);
});

test("the old stream is closed only once the one with the changed subscriptions is open, so no notification is lost", async () => {
  const steps: string[] = [];
  const reopened = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let notify: (data: string) => void = () => undefined;
  const listenTo = (name: string) => {
    const received = new ReadableStream<JsonObject>({ start: (feed) => void (notify = (data) => feed.enqueue(notificationOf(data))) });
    return { ...member(received.values() as AsyncGenerator<JsonObject, void>), close: () => void steps.push(`close ${name}`) };
  };
  const open = async ({ uris }: { uris: readonly string[] }) => {
    steps.push(`open ${uris.join()}`);
    if (uris.length > 1) {
      asked.resolve();
      await reopened.promise;
    }
    return [listenTo(uris.join())];
  };
  let uris = ["a"];
  let subscribed: () => void = () => undefined;
  const follow = async (_session: SessionCredential, changed: () => void) => {
    subscribed = changed;
    return { uris: () => uris, ended: () => false, stop: () => undefined };
  };
  const sessionState = { follow, statusOf: async () => ({ level: "debug", ended: false }) } as unknown as SessionState;
  const call = { abort: new AbortController() } as unknown as Call;
  const answer = sessionStream(call, {} as SessionCredential, {} as McpSender, open, { sessionState }) as StreamAnswer;
  const next = answer.upstream.read();
  await new Promise((resolve) => setImmediate(resolve));
  uris = ["a", "b"];
  subscribed();
  await asked.promise;
  notify("meanwhile");
  expect(new TextDecoder().decode((await next).value)).toContain("meanwhile");
  expect(steps).toEqual(["open a", "open a,b"]);
  reopened.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(steps).toEqual(["open a", "open a,b", "close a"]);
  await answer.upstream.cancel();
});
