import { expect, test } from "bun:test";
import { toolCalled } from "../../../tests/support/tool-servers/tool-request.ts";
import { readRpc, type RpcMessage } from "../../wire/mcp/rpc.ts";
import { toolView } from "./tool-view.ts";

function read(params: string) {
  const request = toolCalled(params);
  return { message: request.message, view: toolView(request) };
}

test("a change by a control keeps all digits of other numbers", () => {
  const { message, view } = read(
    '{"name":"pay","arguments":{"to":"joe@example.com","__proto__":{"x":1e400},"account":12345678901234567890,"list":[{"rate":0.10000000000000000001},"joe@example.com"],"plain":1.5}}',
  );
  for (const slot of view.texts()) if (slot.text === "joe@example.com") slot.replace("[EMAIL]");
  expect(message.document.text()).toBe(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"to":"[EMAIL]","__proto__":{"x":1e400},"account":12345678901234567890,"list":[{"rate":0.10000000000000000001},"[EMAIL]"],"plain":1.5}}}',
  );
});

test("a changed number is written as changed, also under a changed name", () => {
  const { message, view } = read(
    '{"name":"pay","arguments":{"joe@example.com":4111111111111111,"card":4111111111111111,"account":12345678901234567890}}',
  );
  for (const slot of view.texts()) if (slot.text === "4111111111111111") slot.replace("[CARD]");
  for (const slot of view.texts()) if (slot.text === "joe@example.com") slot.replace("[EMAIL]");
  expect(message.document.memberText("params")).toBe(
    '{"name":"pay","arguments":{"card":"[CARD]","account":12345678901234567890,"[EMAIL]":"[CARD]"}}',
  );
});

test("members whose names are replaced alike get distinct names", () => {
  const { message, view } = read('{"name":"pay","arguments":{"joe@example.com":1,"ann@example.com":2,"[EMAIL]":3}}');
  for (const slot of view.texts()) if (slot.text.includes("@")) slot.replace("[EMAIL]");
  expect(message.document.memberText("params")).toBe('{"name":"pay","arguments":{"[EMAIL]":3,"[EMAIL] 2":1,"[EMAIL] 3":2}}');
});

test("a long integer is inspected with all its digits", () => {
  const { message, view } = read(
    '{"name":"pay","arguments":{"cards":[4539148803436467008,{"of":4539148803436467008}],"rate":4539148803436467008.5,"account":12345678901234567890}}',
  );
  const texts = view.texts();
  expect(texts.map(({ text }) => text)).toEqual([
    "pay",
    "4539148803436467008",
    "4539148803436467008",
    "of",
    "cards",
    "rate",
    "12345678901234567890",
    "account",
  ]);
  for (const slot of texts) if (slot.text === "4539148803436467008") slot.replace("[CARD]");
  expect(message.document.memberText("params")).toBe(
    '{"name":"pay","arguments":{"cards":["[CARD]",{"of":"[CARD]"}],"rate":4539148803436467008.5,"account":12345678901234567890}}',
  );
});

test("members beside the arguments are inspected like them, except protocol handles", () => {
  const { message, view } = read(
    '{"name":"pay","note":"to joe","arguments":{"to":"Joe"},"task":{"ttl":1},"requestState":"s","_meta":{"a":"b"}}',
  );
  for (const slot of view.texts()) if (slot.text === "to joe") slot.replace("[WHO]");
  expect(view.texts().map(({ text }) => text)).toEqual(["pay", "[WHO]", "note", "Joe", "to", "b"]);
  expect(message.document.memberText("params")).toBe(
    '{"name":"pay","note":"[WHO]","arguments":{"to":"Joe"},"task":{"ttl":1},"requestState":"s","_meta":{"a":"b"}}',
  );
});

test("text in a call's task member is inspected", () => {
  const { message, view } = read('{"name":"pay","arguments":{},"task":{"ttl":60000,"note":"joe@example.com"}}');
  for (const slot of view.texts()) if (slot.text === "joe@example.com") slot.replace("[EMAIL]");
  expect(message.document.memberText("params")).toBe('{"name":"pay","arguments":{},"task":{"ttl":60000,"note":"[EMAIL]"}}');
});

function textsOf(method: string, params: object): string[] {
  const message = readRpc(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))) as RpcMessage;
  return toolView({ ...toolCalled("{}"), message })
    .texts()
    .map(({ text }) => text);
}

test("any request's target, and what its sender says about itself, is inspected", () => {
  expect(textsOf("resources/read", { uri: "notes://joe%40example.com" })).toEqual(["notes://joe@example.com"]);
  expect(textsOf("prompts/list", { cursor: "c-1" })).toEqual([]);
  expect(textsOf("prompts/list", { cursor: "one two" })).toEqual(["one two"]);
  expect(textsOf("prompts/list", { cursor: { of: "one" } })).toEqual(["one", "of"]);
  expect(textsOf("initialize", { capabilities: { experimental: { "x/y": "one", "a b": {} } }, clientInfo: { name: "two" } })).toEqual([
    "one",
    "a b",
    "two",
  ]);
  expect(
    textsOf("completion/complete", { ref: { type: "ref/resource", uri: "x://one" }, argument: { name: "two", value: "three" } }),
  ).toEqual(["x://one", "two", "three"]);
  expect(textsOf("tools/list", { _meta: { progressToken: "p", traceparent: "00-1-2-03", note: "one" } })).toEqual(["one"]);
  expect(textsOf("subscriptions/listen", { notifications: { resourceSubscriptions: ["x://one"], toolsListChanged: true } })).toEqual([
    "x://one",
  ]);
  expect(textsOf("notifications/cancelled", { requestId: "r", reason: "one" })).toEqual(["one"]);
  expect(textsOf("notifications/progress", { progressToken: "p", progress: 1, message: "one" })).toEqual(["one"]);
  expect(textsOf("x/one", { inputResponses: "two" })).toEqual(["x/one", "two"]);
});

function received(text: string, more: object = {}) {
  const message = readRpc(new TextEncoder().encode(text)) as RpcMessage;
  const request = { ...toolCalled("{}"), message, ...more };
  return { ...request, message, view: toolView(request) };
}

test("a withheld answer is sent without any of its other content", () => {
  const paramHeaders = { "mcp-param-x": "secret" };
  const { message, view } = received('{"jsonrpc":"2.0","id":7,"result":{"a":"b"},"params":{"c":"secret"},"d":"secret"}', { paramHeaders });
  expect(view.texts().map(({ text }) => text)).toEqual(expect.arrayContaining(["secret", "params", "c", "d", "b"]));
  expect(view.withhold?.()).toBe("answer_withheld");
  expect(JSON.parse(message.document.text())).toEqual({ jsonrpc: "2.0", id: 7, error: { code: 4031, message: expect.any(String) } });
  expect(paramHeaders).toEqual({} as typeof paramHeaders);
});

test("a withheld cancellation is sent with its request ID only, and refused if that ID may contain text", () => {
  const cancelled = (requestId: unknown, more: object = {}) =>
    received(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason: "secret" }, ...more }));
  const { message, view } = cancelled(12, { extra: "secret" });
  expect(view.withhold?.()).toBe("reason_withheld");
  expect(message.document.text()).toBe('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12}}');
  for (const requestId of ["a secret", { of: "secret" }, ["secret"]]) expect(cancelled(requestId).view.withhold).toBeNull();
  expect(cancelled(1, { id: "a secret" }).view.withhold).toBeNull();
});

test("an ID that may contain text is inspected, and its answer cannot be withheld", () => {
  for (const id of ['"one two"', '{"one":"two"}', '["one two"]']) {
    const { view } = received(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    expect(view.texts().map(({ text }) => text)).not.toEqual([]);
    expect(view.withhold).toBeNull();
  }
  for (const id of ['"q-1"', "1", "12345678901234567890", "null"])
    expect(received(`{"jsonrpc":"2.0","id":${id},"result":{}}`).view.withhold).not.toBeNull();
});

test("an answer is refused, not withheld, if the path it is sent to is blocked", () => {
  const { view } = received('{"jsonrpc":"2.0","id":1,"result":{"a":"b"}}', { subPath: "/to/joe%40example.com" });
  expect(view.withhold).not.toBeNull();
  const [path] = view.texts();
  expect(path?.text).toBe("/to/joe@example.com");
  path?.forget?.();
  expect(view.withhold).toBeNull();
});

test("a handle in the headers that may contain text is inspected first", () => {
  const message = readRpc(new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"result":{"a":"b"}}')) as RpcMessage;
  const view = toolView({ ...toolCalled("{}"), message }, undefined, () => ["e-1", null, "one two"]);
  const [handle, ...others] = view.texts();
  expect([handle?.text, ...others.map(({ text }) => text)]).toEqual(["one two", "b"]);
  handle?.forget?.();
  expect(view.withhold).toBeNull();
});

test("a root's URI is inspected in decoded form, and keeps its spelling if unchanged", () => {
  const { message, view } = received(
    '{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///joe%40example.com"},{"uri":"file:///a%20b"}]}}',
  );
  for (const slot of view.texts()) if (slot.text.includes("joe@example.com")) slot.replace("file:///[WHO]");
  expect(message.document.memberText("result")).toBe('{"roots":[{"uri":"file:///[WHO]"},{"uri":"file:///a%20b"}]}');
});
